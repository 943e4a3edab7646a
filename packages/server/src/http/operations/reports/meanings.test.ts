import { expect, it } from 'vitest';
import { createFakeReports } from '../../../../test/fixtures/reports/fake-reports.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { FedContacts } from '../../../store/store.ts';
import { createAsk } from './asking.ts';
import { createFindMeanings, type Known } from './meanings.ts';

const isVip = { contact: { contactTagID: 'vip' } };
const reader = {};

/** A store that feeds one contact in each part, and has no last one; `tags` are listed. */
const setUp = ({ tags = [] as string[], afterEach = () => {} } = {}) => {
  const parts: unknown[] = [];
  const store = {
    listCatalogue: async ({ kind }: { kind: string }) =>
      kind === 'tag' ? tags.map((id) => ({ id, name: id, mergedInto: null })) : [],
    async feedContacts({ conditions }: { conditions: unknown[] }): Promise<FedContacts> {
      parts.push(conditions);
      afterEach();
      return {
        contacts: conditions.map((_, nth) => Float64Array.of(nth)),
        next: tags.length > 0 ? null : { key: 1, contact: 1 },
      };
    },
  } as unknown as Known;
  return { find: createFindMeanings(store, createAsk(createFakeReports())), parts };
};

it('stops reading contacts when the client has left', async () => {
  const gone = new AbortController();
  const { find, parts } = setUp({ afterEach: () => parts.length === 2 && gone.abort() });
  const found = find(1, { filters: [isVip] }, { now: 0, reader: { signalOf: () => gone.signal } });
  await expect(found).rejects.toMatchObject({ code: 'no_reports', message: 'the client has left' });
  expect(parts.length).toBe(2);
});

it('reads no contacts for a condition that any contact meets', async () => {
  const { find, parts } = setUp();
  const filters = [{ and: [{ contact: {} }, { did: {} }] }];
  expect([...(await find(1, { filters }, { now: 0, reader })).contacts.values()]).toEqual([null]);
  expect(parts).toEqual([]);
});

it('reads the contacts of all filters and groups together, and those of equal conditions once', async () => {
  const { find, parts } = setUp({ tags: ['new', 'vip'] });
  const filters = [isVip, { not: { contact: { contactStatus: 'active' as const } } }];
  const { contacts, lists } = await find(1, { filters, by: ['contactTagID'] }, { now: 0, reader });
  expect(parts).toEqual([[{ contactTagID: 'vip' }, { contactStatus: 'active' }, { contactTagID: 'new' }]]);
  const [vip] = contacts.values();
  expect(lists.get('contactTagID')).toEqual([
    { value: 'new', contacts: Float64Array.of(2) },
    { value: 'vip', contacts: Float64Array.of(0) },
  ]);
  expect(lists.get('contactTagID')?.[1]?.contacts).toBe(vip);
});

it('reads no contacts for a request that is only checked', async () => {
  const { find, parts } = setUp();
  await find(1, { filters: [isVip] }, { now: 0, reader: null });
  expect(parts).toEqual([]);
});

it('takes 20 conditions on people and no more', async () => {
  const { find, parts } = setUp();
  const filters = Array.from({ length: 7 }, () => ({ and: [isVip, { not: { did: {} } }, { or: [isVip] }] }));
  const found = find(1, { filters }, { now: 0, reader });
  await expect(found).rejects.toBeInstanceOf(Refusal);
  await expect(found).rejects.toMatchObject({
    code: 'invalid_field',
    field: 'filter',
    message: expect.stringMatching(/ 20 .* 21\.$/),
  });
  expect(parts).toEqual([]);
});
