import { expect, it } from 'vitest';
import { createFakeReports } from '../../../../test/fixtures/reports/fake-reports.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { ContactFeedPage } from '../../../store/store.ts';
import { createNameResolver, type NameStore } from './name-resolution.ts';
import { createReportRunner } from './run-report.ts';

const isVip = { contact: { contactTagID: 'vip' } };
const reader = { access: { kind: 'viewer' } } as const;

/** Sets up a store that feeds one-contact pages without end or, with `tags` in its catalogue, a single page. */
const setUp = ({ tags = [] as string[], afterEach = () => {} } = {}) => {
  const parts: unknown[] = [];
  const store = {
    listCatalogue: async ({ kind }: { kind: string }) =>
      kind === 'tag' ? tags.map((id) => ({ id, name: id, mergedInto: null })) : [],
    async feedContacts({ conditions }: { conditions: unknown[] }): Promise<ContactFeedPage> {
      parts.push(conditions);
      afterEach();
      return {
        contacts: conditions.map((_, nth) => Float64Array.of(nth)),
        next: tags.length > 0 ? null : { key: 1, contact: 1 },
      };
    },
  } as unknown as NameStore;
  return { resolve: createNameResolver(store, createReportRunner(createFakeReports())), parts };
};

it('stops reading contacts when the client disconnects', async () => {
  const client = new AbortController();
  const { resolve, parts } = setUp({ afterEach: () => parts.length === 2 && client.abort() });
  const names = resolve(1, { filters: [isVip] }, { now: 0, reader: { ...reader, signalOf: () => client.signal } });
  await expect(names).rejects.toMatchObject({ code: 'no_reports', message: 'the client disconnected' });
  expect(parts.length).toBe(2);
});

it('reads no contacts for a condition that every contact matches', async () => {
  const { resolve, parts } = setUp();
  const filters = [{ and: [{ contact: {} }, { did: {} }] }];
  expect([...(await resolve(1, { filters }, { now: 0, reader })).contacts.values()]).toEqual([null]);
  expect(parts).toEqual([]);
});

it('reads the contacts for all filters and groups together, and only once for equal conditions', async () => {
  const { resolve, parts } = setUp({ tags: ['new', 'vip'] });
  const filters = [isVip, { not: { contact: { contactStatus: 'active' as const } } }];
  const { contacts, lists } = await resolve(1, { filters, by: ['contactTagID'] }, { now: 0, reader });
  expect(parts).toEqual([[{ contactTagID: 'vip' }, { contactStatus: 'active' }, { contactTagID: 'new' }]]);
  const [vip] = contacts.values();
  expect(lists.get('contactTagID')).toEqual([
    { value: 'new', contacts: Float64Array.of(2) },
    { value: 'vip', contacts: Float64Array.of(0) },
  ]);
  expect(lists.get('contactTagID')?.[1]?.contacts).toBe(vip);
});

it('reads no contacts for a request that is only validated', async () => {
  const { resolve, parts } = setUp();
  await resolve(1, { filters: [isVip] }, { now: 0, reader: null });
  expect(parts).toEqual([]);
});

it('accepts at most 20 conditions on people', async () => {
  const { resolve, parts } = setUp();
  const filters = Array.from({ length: 7 }, () => ({ and: [isVip, { not: { did: {} } }, { or: [isVip] }] }));
  const names = resolve(1, { filters }, { now: 0, reader });
  await expect(names).rejects.toBeInstanceOf(Refusal);
  await expect(names).rejects.toMatchObject({
    code: 'invalid_field',
    field: 'filter',
    message: expect.stringMatching(/ 20 .* 21\.$/),
  });
  expect(parts).toEqual([]);
});
