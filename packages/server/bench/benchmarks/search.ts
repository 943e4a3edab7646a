/**
 * Measures how long a contact search takes in an account with a million contacts. Times first and later pages of each
 * filter sequentially through the Store, which reads in a separate thread.
 */
import type { ContactSearch, SearchPosition, Store } from '../../src/store/store.ts';
import { openBenchmark } from '../account.ts';
import type { Options, Row } from '../benchmark.ts';
import { withCopy } from '../cached-database.ts';
import { createLatencies } from '../latencies.ts';
import { creationIntervalMs, firstCreated, firstSeenDay, openSearchContacts, seenDays } from '../search-contacts.ts';
import { whole } from '../table.ts';
import { contactAddress, createRandom } from '../visits.ts';

const day = 86_400_000;
const limit = 100;
type Filter = Partial<ContactSearch>;

const filtersFor = (contacts: number, random: () => number): readonly (readonly [string, () => Filter])[] => {
  const pick = (count: number) => Math.floor(random() * count);
  const pickCreatedTime = () => firstCreated + pick(contacts) * creationIntervalMs;
  const pickSeenTime = () => (firstSeenDay + pick(seenDays)) * day;
  return [
    ['all contacts', () => ({})],
    ['all contacts, last seen first', () => ({ sort: 'seen', descending: true })],
    ['a tag that all have', () => ({ contactTagID: 'newsletter' })],
    ['a tag that one in 100 has', () => ({ contactTagID: 'vip' })],
    ['a tag that one in 100,000 has', () => ({ contactTagID: 'rare' })],
    ['a profile that most have', () => ({ contactProfileID: 'customer' })],
    ['a profile that one in 100,000 has', () => ({ contactProfileID: 'rare' })],
    ['a status that most have', () => ({ contactStatus: 'active' })],
    ['a status that one in 100,000 has', () => ({ contactStatus: 'archived' })],
    ['an attribute that all have', () => ({ attrID: 'city' })],
    ['an attribute with one of 5,000 values', () => ({ attrID: 'city', attrValue: `city ${pick(5_000)}` })],
    ['an attribute with a value that one in 4 has', () => ({ attrID: 'size', attrValue: 'L' })],
    ['created since', () => ({ createdFrom: pickCreatedTime() })],
    [
      'created within an hour',
      () => {
        const createdFrom = pickCreatedTime();
        return { createdFrom, createdTo: createdFrom + 3_600_000 };
      },
    ],
    ['seen since', () => ({ seenFrom: pickSeenTime(), sort: 'seen' })],
    [
      'seen on a day',
      () => {
        const seenFrom = pickSeenTime();
        return { seenFrom, seenTo: seenFrom + day, sort: 'seen' };
      },
    ],
    [
      'seen on a day, oldest contact first',
      () => {
        const seenFrom = pickSeenTime();
        return { seenFrom, seenTo: seenFrom + day };
      },
    ],
    ['a tag that one in 100 has, last seen first', () => ({ contactTagID: 'vip', sort: 'seen', descending: true })],
    ['a tag that all have, last seen first', () => ({ contactTagID: 'newsletter', sort: 'seen', descending: true })],
    [
      'a tag that one in 100 has and an attribute that one in 4 has',
      () => ({ contactTagID: 'vip', attrID: 'size', attrValue: 'S' }),
    ],
    ['an address', () => ({ address: contactAddress(1 + pick(contacts)) })],
  ];
};

/** Times searches and up to three later pages of each. */
const time = async (
  store: Store,
  { account, filter, searches }: { account: number; filter: () => Filter; searches: number },
) => {
  const first = createLatencies();
  const later = createLatencies();
  for (let nth = 0; nth < searches; nth += 1) {
    const search = { account, limit, ...filter() };
    let beyond: SearchPosition | null | undefined;
    for (let page = 0; page < 4 && beyond !== null; page += 1) {
      const startTime = performance.now();
      ({ next: beyond } = await store.searchContact({ ...search, beyond }));
      (page === 0 ? first : later).record(performance.now() - startTime);
    }
  }
  return { first, later };
};

export const run = async ({ quick }: Options): Promise<Row[]> => {
  const stored = await openSearchContacts(quick ? 20_000 : 1_000_000);
  const { contacts, indexMicroseconds } = stored.about;
  return withCopy(stored, async (path) => {
    const { store, caller } = await openBenchmark(path);
    try {
      const rows: Row[] = [];
      for (const [title, filter] of filtersFor(contacts, createRandom(18))) {
        await time(store, { account: caller.account, filter, searches: 5 });
        const { first, later } = await time(store, { account: caller.account, filter, searches: quick ? 20 : 200 });
        const figures = [first.quantile(0.5), first.quantile(0.99), later.quantile(0.99)].map((figure) =>
          figure.toFixed(1),
        );
        rows.push({
          measured: `${limit} of ${whole(contacts)} contacts, ms p50 / p99 / p99 of later pages: ${title}`,
          ours: figures.join(' / '),
          bar: '< 10',
        });
      }
      rows.push({ measured: 'indexing a contact, µs', ours: whole(indexMicroseconds), bar: '' });
      return rows;
    } finally {
      await store.close();
    }
  });
};
