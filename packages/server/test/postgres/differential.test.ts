/**
 * Runs the same operations on SQLite, on PostgreSQL, and on PostgreSQL with the statements for a cluster, and compares
 * the results. On a cluster, it also checks that no statement reads several shards.
 */
import { contactStatuses } from '@firsthand/contract/contact';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Refusal } from '../../src/shared/refusal.ts';
import { openStore } from '../../src/store/open.ts';
import type { LinkSelection, NewErasure, NewEvent, Store, StoreCaller } from '../../src/store/store.ts';
import {
  listMultiShardStatements,
  listParts,
  logRemoteCommands,
  readShardParts,
  recordCommands,
} from '../citus/tools/remote-commands.ts';
import { kind } from '../fixtures/database.ts';
import { newMigratedDatabase } from '../fixtures/postgres/databases.ts';
import { simulateCluster } from '../fixtures/postgres/simulated-citus.ts';
import { runs } from '../fixtures/runs.ts';
import { tinySegments } from '../fixtures/small-segments.ts';
import { day, hashText, hour, newAccount, nextStart, quarter } from '../fixtures/store.ts';

const userUUIDs = ['visitor-number-one', 'visitor-number-two', 'visitor-number-three'];
const addresses = ['ann@example.com', 'ben@example.com', 'cleo@example.com'];
const externalIDs = ['customer-1', 'customer-2', 'customer-3'];
const ids = ['small', 'large', '__proto__', 'constructor'];
const texts = ['', 'Ann', 'ben', 'O’Neil "quoted" \\ back', 'ünïcode ☃ 🎉'];

const user = fc.constantFrom(...userUUIDs);
const address = fc.constantFrom(...addresses);
const externalID = fc.constantFrom(...externalIDs);
const id = fc.constantFrom(...ids);
const text = fc.constantFrom(...texts);
/** Selects the nth existing item, counted from the newest. */
const nth = fc.nat({ max: 3 });
const caller = fc.constantFrom('server', 'browser', 'otherBrowser');
const attributes = fc.uniqueArray(fc.tuple(id, text), { selector: ([name]) => name, maxLength: 2 });
const fields = fc.record({ contactFirstname: text, contactTitle: text, contactProfileID: id }, { requiredKeys: [] });

const event = fc.record({
  user: fc.option(user, { freq: 6 }),
  contact: fc.option(nth, { freq: 2 }),
  unknown: fc.boolean(),
  externalID: fc.option(externalID, { freq: 1 }),
  kind: fc.constantFrom(1, 2, 30, 'Bought', 'Seen', 'unlisted'),
  /** Generates only a few eventUUIDs, so that there are many duplicates. */
  eventUUID: fc.nat({ max: 12 }).map((number) => `event-number-${number}`),
  ago: fc.constantFrom(0, 1, quarter, hour, 9 * day),
  attributes,
});

/** The keys by which a contact is found, or with which it is created. */
const keys = fc.oneof(
  fc.record({ address }),
  fc.record({ externalID }),
  fc.record({ address, externalID }),
  fc.record({ address }),
);

/** A name to give to an event. */
const name = fc.option(fc.constantFrom('Bought', 'Seen', 'Renamed'), { nil: undefined });

const is = <Name extends string>(name: Name) => fc.constant(name);
const action = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: is('log'), caller, events: fc.array(event, { maxLength: 6 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: is('create'),
      caller,
      user,
      keys,
      fields,
      tags: fc.uniqueArray(id, { maxLength: 2 }),
      attributes,
      verified: fc.boolean(),
      requestUUID: fc.option(fc.constantFrom('request-one', 'request-two')),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: is('update'),
      nth,
      by: fc.constantFrom('contactUUID', 'externalID', 'address'),
      address: fc.option(address),
      externalID: fc.option(fc.oneof({ weight: 3, arbitrary: externalID }, { weight: 1, arbitrary: fc.constant('') })),
      fields: fc.record({ contactFirstname: fc.option(text), contactJobRole: fc.option(text) }, { requiredKeys: [] }),
      addedTags: fc.uniqueArray(id, { maxLength: 2 }),
      removedTags: fc.uniqueArray(id, { maxLength: 1 }),
      attributes: fc.uniqueArray(fc.tuple(id, fc.option(text)), { selector: ([name]) => name, maxLength: 2 }),
      contactStatus: fc.option(fc.constantFrom(...contactStatuses), { nil: undefined }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: is('link'), user, nth }) },
  { weight: 1, arbitrary: fc.record({ do: is('unlink'), user }) },
  { weight: 2, arbitrary: fc.record({ do: is('void'), nth, restore: fc.boolean(), byToken: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: is('accept'), nth }) },
  { weight: 1, arbitrary: fc.record({ do: is('voidClaim'), nth, restore: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: is('merge'), nth, other: nth }) },
  { weight: 2, arbitrary: fc.record({ do: is('unmerge'), nth }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: is('erase'),
      nth,
      address: fc.option(address, { freq: 1 }),
      verifiedOnly: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: is('keep'), caller, user, contact: fc.option(nth, { freq: 1 }), text }) },
  { weight: 1, arbitrary: fc.record({ do: is('replay'), events: fc.array(event, { maxLength: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ do: is('account'), strict: fc.boolean(), id, browser: fc.boolean(), name }) },
  { weight: 2, arbitrary: fc.record({ do: is('wait'), time: fc.constantFrom(quarter, 5 * hour, 3 * day, 40 * day) }) },
  { weight: 1, arbitrary: fc.record({ do: is('delete'), ago: fc.constantFrom(day, 20 * day) }) },
);
type Action = typeof action extends fc.Arbitrary<infer Value> ? Value : never;

const newVisitor = fc.constantFrom('new-visitor-one', 'new-visitor-two');
/** Generates existing and unknown addresses. If only existing contacts were erased, few would remain to be merged. */
const claimed = fc.constantFrom(...addresses, 'dora@example.com', 'emil@example.com');
/** Erases a contact that a browser has claimed, because a random claim rarely determines the owner of events. */
const erasedClaim = fc
  .record({ user: newVisitor, address: claimed, event, text, verifiedOnly: fc.boolean() })
  .map(({ user, address, event, text, verifiedOnly }): Action[] => {
    const log = (when: string): Action => {
      const eventUUID = `${event.eventUUID}-${when}`;
      return { do: 'log', caller: 'server', events: [{ ...event, user, contact: null, eventUUID }] };
    };
    const noValues = { fields: {}, tags: [], attributes: [], verified: false, requestUUID: null };
    return [
      log('before'),
      { do: 'create', caller: 'browser', user, keys: { address }, ...noValues },
      log('after'),
      { do: 'keep', caller: 'server', user, contact: null, text },
      { do: 'erase', nth: 0, address, verifiedOnly },
    ];
  });

const actions = fc
  .array(fc.oneof({ weight: 45, arbitrary: action.map((each) => [each]) }, { weight: 1, arbitrary: erasedClaim }), {
    minLength: 10,
    maxLength: 38,
    size: 'max',
  })
  .map((some) => some.flat());

/** Creates the contacts to link, merge and erase. */
const beginnings: Action[] = addresses.map((address, index) => ({
  do: 'create',
  caller: index === 2 ? 'browser' : 'server',
  user: userUUIDs[index] as string,
  keys: { address },
  fields: {},
  tags: [],
  attributes: [],
  verified: false,
  requestUUID: null,
}));

/** Returns the result of a promise, or the parts of a Refusal that a client sees. */
const outcomeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
    return { refused: error.code, field: error.field, message: error.message };
  });

/** Creates an account in a store, and tracks the account's IDs. Players with the same actions use the same names. */
const createPlayer = async (store: Store, name: string, start: number) => {
  const tokenOf = (kind: 'server' | 'browser', which: string) => ({
    tokenID: `${name}-${which}`,
    kind,
    tokenName: '',
    hash: hashText(`${name} ${which}`),
    text: kind === 'browser' ? `${name} ${which}` : null,
    time: start,
  });
  const tokens = [tokenOf('server', 'server'), tokenOf('browser', 'browser'), tokenOf('browser', 'otherBrowser')];
  await store.createAccount(newAccount({ accountUUID: name, tokens, time: start }));
  const account = (await store.findAccount(name)) as number;
  const askers: Record<string, StoreCaller> = {};
  for (const { hash, tokenID, kind } of tokens) {
    const token = (await store.findAccess(hash))?.token as number;
    askers[tokenID.slice(name.length + 1)] = { account, token, browser: kind === 'browser' };
  }
  const toStoreCaller = (who: string) => askers[who] as StoreCaller;
  const contactUUIDs: string[] = [];
  const merged: string[] = [];
  const handles: string[] = [];
  const linkIDs: string[] = [];
  const newest = (list: readonly string[], number: number) => list.at(-1 - number) ?? 'none-of-that-name';
  let time = start;
  let createdCount = 0;

  const toEvent = (
    { user, contact, unknown, externalID, ago, kind, ...rest }: fcEvent,
    asker: StoreCaller,
  ): NewEvent => ({
    ...rest,
    externalID: asker.browser ? null : externalID,
    eventID: typeof kind === 'number' ? kind : null,
    eventName: typeof kind === 'number' ? null : kind,
    mayAddName: !kind.toString().startsWith('unlisted'),
    userUUID: user,
    contactUUID:
      contact !== null
        ? unknown
          ? 'nobody-at-all'
          : newest(asker.browser ? handles : contactUUIDs, contact)
        : user === null
          ? newest(asker.browser ? handles : contactUUIDs, 0)
          : null,
    eventTime: time - ago,
    timeReplaced: ago === 1,
  });

  /** Erases a contact completely; `left` is the number of the contact's events that were not deleted. */
  const erase = async ({ verifiedOnly, ...named }: Pick<NewErasure, 'address' | 'contactUUID' | 'verifiedOnly'>) => {
    const owned = await store.getContact({ ...toStoreCaller('server'), ...named, include: [] }).then(
      ({ contactUUID }) => pages({ contactUUID }),
      () => [],
    );
    let receipt = await store.eraseContact({ account, ...named, verifiedOnly, time });
    const { contactUUID } = receipt;
    while (!receipt.complete) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      receipt = await store.eraseContact({ account, contactUUID, time });
    }
    return { ...receipt, left: Math.max(0, owned.length - receipt.deletedEvents) };
  };

  const addTo = (list: string[], id: string) => {
    if (!list.includes(id)) list.push(id);
  };

  const play = async (action: Action): Promise<unknown> => {
    switch (action.do) {
      case 'log': {
        const asker = toStoreCaller(action.caller);
        const events = action.events.map((each) => toEvent(each, asker));
        return store.logEvents({ ...asker, receivedTime: time, events });
      }
      case 'create': {
        const { do: _, caller, user, keys, ...values } = action;
        const asker = toStoreCaller(caller);
        createdCount += 1;
        const response = await store.createContact({
          ...values,
          ...keys,
          ...asker,
          fields: Object.fromEntries(Object.entries(values.fields).filter(([, value]) => value !== '')),
          userUUID: user,
          verified: values.verified || !asker.browser,
          newContactUUID: `${name}-contact-${createdCount}`,
          newHandle: `${name}-handle-${createdCount}`,
          time,
        });
        addTo(asker.browser ? handles : contactUUIDs, response.contactUUID);
        return response;
      }
      case 'update': {
        const { do: _, nth, by, address, externalID, ...change } = action;
        const written = { ...(address && { address }), ...(externalID !== null && { externalID: externalID || null }) };
        const named = {
          contactUUID: { ...written, contactUUID: newest(contactUUIDs, nth) },
          externalID: { ...written, externalID: externalID || 'customer-unknown' },
          address: { address: address ?? 'nobody@example.com', ...(externalID === '' && { externalID: null }) },
        }[by];
        return store.updateContact({ account, ...named, ...change, time });
      }
      case 'link': {
        const { token } = toStoreCaller('server');
        const contactUUID = newest(contactUUIDs, action.nth);
        const { exists, linkID } = await store.linkUser({ account, token, userUUID: action.user, contactUUID, time });
        addTo(linkIDs, linkID);
        return { exists };
      }
      case 'unlink': {
        const { token } = toStoreCaller('server');
        const { exists, linkID } = await store.unlinkUser({ account, token, userUUID: action.user, time });
        if (linkID !== '') addTo(linkIDs, linkID);
        return { exists };
      }
      case 'void': {
        const links: LinkSelection = action.byToken
          ? { tokenID: `${name}-browser`, from: start, to: time + 1 }
          : { linkID: newest(linkIDs, action.nth) };
        return store.voidLinks({ account, restore: action.restore, links, time });
      }
      case 'accept':
        return store.acceptClaim({ account, claimID: newest(handles, action.nth), time });
      case 'voidClaim':
        return store.voidClaim({ account, claimID: newest(handles, action.nth), restore: action.restore, time });
      case 'merge': {
        const [contactUUID, otherContactUUID] = [newest(contactUUIDs, action.nth), newest(contactUUIDs, action.other)];
        const response = await store.mergeContact({ account, contactUUID, otherContactUUID, time });
        addTo(merged, otherContactUUID);
        return response;
      }
      case 'unmerge':
        return store.unmergeContact({
          account,
          otherContactUUID: newest([...contactUUIDs, ...merged], action.nth),
          time,
        });
      case 'erase': {
        const { nth, address, verifiedOnly } = action;
        return erase({ ...(address ? { address } : { contactUUID: newest(contactUUIDs, nth) }), verifiedOnly });
      }
      case 'keep': {
        const { token } = toStoreCaller(action.caller);
        const contactUUID = action.contact === null ? '' : newest(contactUUIDs, action.contact);
        const input = { userUUID: action.user, contactUUID, contactFirstname: action.text };
        const common = { address: null, code: 'invalid_field', message: action.text } as const;
        return store.addRefused({
          account,
          token,
          time,
          sender: 0,
          requests: [{ operation: 'logEvent', input, ...common }],
        });
      }
      case 'replay': {
        const { requests } = await store.listRefused({ account, beyond: 0, limit: 1 });
        const asker = toStoreCaller('server');
        const events = action.events.map((each) => toEvent(each, asker));
        const request = { ...asker, receivedTime: time, events };
        return store.replayRefused({ refused: requests[0]?.refused ?? 0, write: 'logEvents', request });
      }
      case 'account': {
        const { strict, id, browser, name } = action;
        const entries = [{ id, name: 'Named', browser }];
        const catalogues = { attr: entries, tag: entries, event: [{ id: '30', browser, name }], profile: [{ id }] };
        return store.updateAccount({ account, strict, catalogues, contacts: [], time });
      }
      case 'wait':
        time += action.time;
        return undefined;
      case 'delete':
        return store.deleteEventsBefore({ time: time - action.ago, limit: 7 });
    }
  };

  const pages = async (query: object) => {
    const events: unknown[] = [];
    for (let beyond: number | undefined; ; ) {
      const page = await store.getEvents({ account, order: 'asc', limit: 7, beyond, ...query });
      events.push(...page.events);
      if (page.next === null) return events;
      beyond = page.next;
    }
  };

  const readOnce = async () => {
    const server = { ...toStoreCaller('server'), include: ['claim', 'link'] as const };
    const [contact, other] = [newest(contactUUIDs, 0), newest(contactUUIDs, 1)];
    const edges = [start - 10 * day, start, start + day, time - day, time + quarter].map((at) => at - (at % quarter));
    const ascending = [...new Set(edges)].sort((a, b) => a - b);
    const reads = [
      // Excludes stored bytes, which each driver estimates from its own rows.
      store.getAccount(account).then(({ storedBytes, ...detail }) => detail),
      pages({}),
      pages({ order: 'desc' }),
      pages({ eventID: 30 }),
      pages({ eventName: 'Bought' }),
      pages({ eventName: ' Seen', order: 'desc' }),
      pages({ from: start + hour, to: time - hour, order: 'desc' }),
      pages({ attrID: 'small' }),
      pages({ attrID: '__proto__', attrValue: 'Ann', order: 'desc' }),
      ...userUUIDs.map((userUUID) => pages({ userUUID })),
      ...[contact, other].flatMap((contactUUID) => [
        pages({ contactUUID }),
        pages({ contactUUID, userUUID: userUUIDs[0], order: 'desc', eventID: 1 }),
        store.getContact({ ...server, contactUUID }),
      ]),
      ...handles.map((contactUUID) => store.getContact({ ...toStoreCaller('browser'), contactUUID, include: [] })),
      ...addresses.map((address) => store.getContact({ ...server, address })),
      ...externalIDs.map((externalID) => store.getContact({ ...server, externalID })),
      ...externalIDs.map((externalID) => pages({ externalID })),
      store.searchContact({ account, limit: 2 }),
      store.searchContact({ account, limit: 9, text: 'ANN', contactTagID: 'small' }),
      ...addresses.map((each) => store.searchContact({ account, limit: 9, address: each })),
      ...externalIDs.map((each) => store.searchContact({ account, limit: 9, externalID: each, address: addresses[0] })),
      store.countEvents({ account, edges: ascending, users: true }),
      store.countEvents({ account, edges: ascending, users: false, eventID: 2 }),
      store.countEvents({ account, edges: ascending, users: true, eventName: 'Bought' }),
      store.getEventDefinitions(account),
      store.listRefused({ account, beyond: 0, limit: 50 }),
      store.countRefused({ account }),
    ];
    return Promise.all(reads.map(outcomeOf));
  };

  /**
   * Reads everything. On a busy machine, some of the 42 concurrent reads might time out; they are retried, as a client
   * would.
   */
  const readAll = async () => {
    let results = await readOnce();
    const isTimeout = (outcome: unknown) => (outcome as { refused?: unknown } | null)?.refused === 'unavailable';
    for (let retries = 0; results.some(isTimeout) && retries < 10; retries += 1) results = await readOnce();
    return results;
  };

  return { play: (action: Action) => outcomeOf(play(action)), readAll, now: () => time };
};
type fcEvent = typeof event extends fc.Arbitrary<infer Value> ? Value : never;

const numbered = new Set(['sequence', 'next', 'account', 'token', 'refused', 'contact']);

/** Removes numbers that differ between databases, and replaces linkIDs with their positions. */
const normalize = (value: unknown): unknown => {
  const links = new Set<number>();
  JSON.stringify(value, (key, part) => {
    if (key === 'linkID' && part) links.add(Number(part));
    return part;
  });
  const order = [...links].sort((a, b) => a - b);
  return JSON.parse(
    JSON.stringify(value ?? null, (key, part) => {
      if (numbered.has(key) && typeof part === 'number') return undefined;
      return key === 'linkID' && part ? `link ${order.indexOf(Number(part))}` : part;
    }),
  );
};

const stores: Store[] = [];
let parts: ReadonlyMap<string, string> = new Map();
beforeAll(async () => {
  const onFatal = (error: Error) => {
    throw error;
  };
  const others = [await newMigratedDatabase()];
  if (kind === 'citus') {
    parts = await readShardParts(others[0] as string);
    await logRemoteCommands(others[0] as string);
  } else {
    const pretended = await newMigratedDatabase();
    await simulateCluster(pretended);
    others.push(pretended);
  }
  for (const databaseURL of ['sqlite::memory:', ...others]) {
    stores.push(await openStore({ databaseURL, role: 'server', onFatal, tuning: tinySegments }));
  }
});
afterAll(() => Promise.all(stores.map((store) => store.close())));

test('returns the same results from SQLite and PostgreSQL for random histories', async () => {
  const kinds = 18;
  let played = 0;
  let end = 0;
  /** The number of successful actions of each kind, with separate counts for partial erasures. */
  const done: Partial<Record<Action['do'] | 'erase what is verified' | 'leave what is claimed', number>> = {};
  const count = (kindOfAction: keyof typeof done) => {
    done[kindOfAction] = (done[kindOfAction] ?? 0) + 1;
  };
  const playBoth = async (actions: readonly Action[]) => {
    // Starts after all earlier histories, because days never go back: in SQLite per store, in PostgreSQL per account.
    let start = nextStart();
    while (start <= end) start = nextStart();
    played += 1;
    const [one, ...others] = (await Promise.all(
      stores.map((store) => createPlayer(store, `account-${played}`, start)),
    )) as [Player, ...Player[]];
    const all = [...beginnings, ...actions];
    for (const [index, each] of all.entries()) {
      const [expected, ...results] = await Promise.all([one, ...others].map(async (player) => player.play(each)));
      const isRefused = typeof expected === 'object' && expected !== null && 'refused' in expected;
      if (!isRefused) count(each.do);
      if (each.do === 'erase' && !isRefused) {
        const { left } = expected as { left: number };
        if (each.verifiedOnly) count('erase what is verified');
        else expect(left, 'events left by an erasure').toBe(0);
        if (left > 0) count('leave what is claimed');
      }
      for (const result of results)
        expect(normalize(result), `${each.do}, action ${index}`).toEqual(normalize(expected));
      end = one.now();
      if (index % 10 !== 9 && index !== all.length - 1) continue;
      const [first, ...rest] = await Promise.all([one, ...others].map((player) => player.readAll()));
      for (const other of rest) expect(normalize(other), `after ${index + 1} actions`).toEqual(normalize(first));
    }
  };
  const same = fc.asyncProperty(actions, async (actions) => {
    if (kind !== 'citus') return playBoth(actions);
    const { sent } = await recordCommands(() => playBoth(actions));
    expect(listParts(sent, parts).length).toBeGreaterThan(0);
    expect(listMultiShardStatements(sent, parts)).toEqual([]);
  });
  // Runs more histories until rare actions occur, which can be missing by chance.
  for (let round = 0; round === 0 || (round < 15 && Object.keys(done).length < kinds); round += 1) {
    // Shrinking is off on a cluster, where shrinking a failing history would exceed the test's timeout.
    await fc.assert(same, { numRuns: runs(20, 60), endOnFailure: kind === 'citus' });
  }
  expect(Object.keys(done)).toHaveLength(kinds);
});
type Player = Awaited<ReturnType<typeof createPlayer>>;
