import { expect, it } from 'vitest';
import type { FoundContacts } from '../../../store/store.ts';
import { createFindMeanings, type Known } from './meanings.ts';

const isVip = { contact: { contactTagID: 'vip' } };

/** A store whose searches end when `next` is called, each with a further page. */
const createSlowStore = () => {
  const waiting: (() => void)[] = [];
  const seen = { searches: 0, atOnce: 0, most: 0 };
  const store = {
    listCatalogue: async () => [],
    numberContacts: async () => [1],
    async searchContact(): Promise<FoundContacts> {
      seen.searches += 1;
      seen.atOnce += 1;
      seen.most = Math.max(seen.most, seen.atOnce);
      await new Promise<void>((resolve) => waiting.push(resolve));
      seen.atOnce -= 1;
      return { contacts: [], next: { key: 1, contact: 1 } };
    },
  } as unknown as Known;
  return { store, seen, next: () => waiting.shift()?.() };
};

it('ends the searches of a client that has left', async () => {
  const { store, seen, next } = createSlowStore();
  const gone = new AbortController();
  const found = createFindMeanings(store)(1, { filters: [isVip] }, { now: 0, signal: gone.signal });
  const refused = expect(found).rejects.toMatchObject({ code: 'no_reports' });
  await expect.poll(() => seen.searches).toBe(1);
  next();
  await expect.poll(() => seen.searches).toBe(2);
  gone.abort();
  next();
  await refused;
  expect(seen.searches).toBe(2);
});

it('answers a request without a search while another one searches', async () => {
  const { store, seen } = createSlowStore();
  const find = createFindMeanings(store);
  find(1, { filters: [isVip] }, { now: 0, signal: undefined }).catch(() => {});
  await expect.poll(() => seen.searches).toBe(1);
  const filters = [{ and: [{ contact: {} }, { did: {} }] }];
  expect((await find(1, { filters }, { now: 0, signal: undefined })).contacts.size).toBe(1);
});

it('runs one search for contacts at a time', async () => {
  const { store, seen, next } = createSlowStore();
  const gone = new AbortController();
  const find = createFindMeanings(store);
  const all = [1, 1, 2].map((account) => find(account, { filters: [isVip] }, { now: 0, signal: gone.signal }));
  const refused = Promise.allSettled(all);
  await expect.poll(() => seen.searches).toBe(1);
  gone.abort();
  next();
  await refused;
  expect(seen).toEqual({ searches: 1, atOnce: 0, most: 1 });
});

it('takes so many conditions on people and no more', async () => {
  const { store, seen } = createSlowStore();
  const filters = Array.from({ length: 7 }, () => ({ and: [isVip, { not: { did: {} } }, { or: [isVip] }] }));
  const found = createFindMeanings(store)(1, { filters }, { now: 0, signal: undefined });
  await expect(found).rejects.toMatchObject({
    code: 'invalid_field',
    field: 'filter',
    message: expect.stringMatching(/ 20 .* 21\.$/),
  });
  expect(seen.searches).toBe(0);
});
