// Tests that paging through contacts or refused requests misses none of them, no matter how late one is committed.
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, expect, test, vi } from 'vitest';
import { newMigratedDatabase, querySQL } from '../../../../test/fixtures/postgres/databases.ts';
import { type Caller, createSite, type Site } from '../../../../test/fixtures/site.ts';
import { newContact } from '../../../../test/fixtures/store.ts';
import { soon } from '../../../../test/fixtures/timeouts.ts';
import { Refusal } from '../../../shared/refusal.ts';
import { openStore } from '../../open.ts';
import type { SearchPosition, Store } from '../../store.ts';

const openStores: Store[] = [];
afterEach(async () => {
  await Promise.all(openStores.splice(0).map((store) => store.close()));
});

const openServer = async (databaseURL: string): Promise<Store> => {
  const store = await openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
  openStores.push(store);
  return store;
};

interface Page {
  readonly addresses: readonly string[];
  readonly next: SearchPosition | number | null;
}

/** A list to page through, whose entries have addresses. */
interface Listed {
  readonly table: 'contact' | 'refused_request';
  readonly column: string;
  add(store: Store, caller: Caller, address: string, time: number): Promise<unknown>;
  page(store: Store, query: { account: number; beyond: Page['next']; limit: number }): Promise<Page>;
}

const contacts: Listed = {
  table: 'contact',
  column: 'contactEmailaddress',
  add: (store, { account, token }, address, time) =>
    store.createContact({
      ...newContact({ address, userUUID: `user-of-${token}-at-the-shop`, time }),
      account,
      token,
      browser: false,
      verified: true,
    }),
  async page(store, { beyond, ...query }) {
    const { contacts, next } = await store.searchContact({
      ...query,
      beyond: (beyond as SearchPosition | null) ?? undefined,
    });
    return { addresses: contacts.map(({ fields }) => fields.contactEmailaddress), next };
  },
};

const refusedRequests: Listed = {
  table: 'refused_request',
  column: 'address',
  add: (store, { account, token }, address, time) =>
    store.addRefused({
      account,
      token,
      time,
      sender: 0,
      requests: [{ operation: 'createContact', input: { address }, address, code: 'invalid_field', message: '' }],
    }),
  async page(store, { beyond, ...query }) {
    const { requests, next } = await store.listRefused({ ...query, beyond: (beyond as number | null) ?? 0 });
    return { addresses: requests.map(({ input }) => (input as { address: string }).address), next };
  },
};

/** Reads all pages, and retries pages that are unavailable. */
const readAllPages = async ({ page }: Listed, store: Store, { account }: Site): Promise<string[]> => {
  const readPage = (beyond: Page['next']): Promise<Page> =>
    page(store, { account, beyond, limit: 4 }).catch((error: unknown) => {
      if (error instanceof Refusal && error.code === 'unavailable') return readPage(beyond);
      throw error;
    });
  const all: string[] = [];
  for (let beyond: Page['next'] = null; ; ) {
    const { addresses, next }: Page = await readPage(beyond);
    all.push(...addresses);
    if (next === null) return all;
    beyond = next;
  }
};

/** Blocks the inserts of late-1@… and late-2@… after they have drawn their numbers, until each is released. */
const blockLateInserts = async (databaseURL: string, { table, column }: Listed) => {
  await querySQL(
    databaseURL,
    `CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS
       $$ BEGIN PERFORM pg_advisory_xact_lock(substr(NEW."${column}", 6, 1)::integer); RETURN NEW; END $$;
     CREATE TRIGGER wait BEFORE INSERT ON ${table} FOR EACH ROW WHEN (NEW."${column}" LIKE 'late-%') EXECUTE FUNCTION wait()`,
  );
  const gate = new pg.Client(databaseURL);
  await gate.connect();
  await gate.query('SELECT pg_advisory_lock(1), pg_advisory_lock(2)');
  return {
    async waitForBlocked(count: number) {
      const waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'";
      await vi.waitFor(async () => expect((await gate.query(waiting)).rows).toHaveLength(count), soon);
    },
    release: (nth: number) => gate.query('SELECT pg_advisory_unlock($1)', [nth]),
    close: () => gate.end(),
  };
};

test.each([
  ['contacts', contacts],
  ['refused requests', refusedRequests],
])('lists all %s, even if one commits after another with a greater number', async (_, listed) => {
  const databaseURL = await newMigratedDatabase();
  const [one, other] = [await openServer(databaseURL), await openServer(databaseURL)];
  const site = await createSite(one);
  // Gives each request its own token and user, so that none waits for another.
  const add = async (store: Store, name: string) =>
    listed.add(store, await site.newCaller('server'), `${name}@example.com`, site.time);
  await add(one, 'early');
  const late = await blockLateInserts(databaseURL, listed);
  try {
    const first = add(one, 'late-1');
    await late.waitForBlocked(1);
    await add(other, 'acknowledged');
    const reading = readAllPages(listed, other, site);
    // Gives a reader that does not wait enough time to finish.
    const pause = () => Promise.race([reading, wait(100)]);
    await pause();
    const second = add(one, 'late-2');
    await late.waitForBlocked(2);
    for (const name of ['later', 'latest']) await add(other, name);
    await late.release(1);
    await pause();
    await late.release(2);
    await Promise.all([first, second]);
    const names = (await reading).map((address) => address.replace(/@.*/, ''));
    expect(names).toEqual(expect.arrayContaining(['early', 'acknowledged']));
    const all = ['early', 'late-1', 'acknowledged', 'late-2', 'later', 'latest'];
    expect(names).toEqual(all.slice(0, names.length));
  } finally {
    await late.close();
  }
});
