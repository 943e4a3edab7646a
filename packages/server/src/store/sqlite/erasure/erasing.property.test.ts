// Tests two databases with the same history: one completes erasures immediately, the other runs only an occasional
// step.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../../test/fixtures/runs.ts';
import { newAccount, newContact, newEvent, newToken } from '../../../../test/fixtures/store.ts';
import { Refusal } from '../../../shared/refusal.ts';
import type { RefusedPage, StoreCaller } from '../../store.ts';
import type { Call } from '../calls.ts';
import { openMemory } from '../database/memory.ts';
import { createReadEngine, createWriteEngine } from '../engine.ts';

const server = { account: 1, token: 1, browser: false };
const browsers = [2, 3].map((token) => ({ account: 1, token, browser: true }));

const small = fc.nat({ max: 2 });
/** Chooses mostly between two people on three browsers, so that erased people are claimed again. */
const person = fc.nat({ max: 1 });
/** An index from the end of the created items. */
const recent = fc.nat({ max: 5 });
const action = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('log' as const), user: small, contact: fc.option(recent) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('logAgainstHandle' as const), browser: fc.nat({ max: 1 }), claim: recent }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('claim' as const),
      browser: fc.nat({ max: 1 }),
      user: small,
      address: person,
      request: fc.option(small),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('create' as const),
      user: small,
      address: person,
      request: fc.option(small),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('link' as const), user: small, contact: recent }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('unlink' as const), user: small }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('void' as const), link: recent, restore: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('voidToken' as const), browser: fc.nat({ max: 1 }), restore: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('accept' as const), claim: recent }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('voidClaim' as const), claim: recent, restore: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('merge' as const), contact: recent, other: recent }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('unmerge' as const), contact: recent }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('erase' as const), contact: recent, verifiedOnly: fc.boolean() }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('refuse' as const),
      browser: fc.nat({ max: 1 }),
      user: small,
      address: fc.option(person),
      contact: fc.option(recent),
      claim: fc.option(recent),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('replay' as const), refused: recent }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('move' as const), contact: recent, address: person }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('maintain' as const), steps: fc.nat({ max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
);
type Action = typeof action extends fc.Arbitrary<infer Kind> ? Kind : never;

/** Links each user to both people, by a claim or by the server, with events before, between and after. */
const arbitraryActions = fc
  .tuple(fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }), fc.array(action, { maxLength: 25, size: 'max' }))
  .map(([byServer, rest]): Action[] => [
    ...byServer.flatMap((isServer, nth): Action[] => {
      const [user, address] = [nth % 3, nth < 3 ? 0 : 1];
      const log = { do: 'log', user, contact: null } as const;
      const values = { user, address, request: null };
      const refuse = { do: 'refuse', browser: nth % 2, user, address: null, contact: null, claim: null } as const;
      return [log, isServer ? { do: 'create', ...values } : { do: 'claim', browser: 0, ...values }, log, refuse];
    }),
    ...rest,
  ]);

/** Opens an engine with small steps, so that an erasure takes several. */
const open = () => {
  const db = openMemory();
  const engine = createWriteEngine(db, { rowsPerDetaching: 1 });
  const tokens = ['server', 'browser', 'browser'] as const;
  engine.write([
    {
      name: 'createAccount',
      request: newAccount({ tokens: tokens.map((kind, nth) => newToken(kind, { tokenID: `token-${nth + 1}` })) }),
    },
  ]);
  return { db, engine };
};

const outcomeOf = (outcome: { value: unknown } | { error: unknown } | undefined): unknown => {
  if (outcome && 'value' in outcome) return outcome.value;
  if (outcome?.error instanceof Refusal) return outcome.error.code;
  throw outcome?.error;
};

test('erases the same data, no matter what happens between the steps of an erasure', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryActions, async (actions: Action[]) => {
      const [immediate, stepwise] = [open(), open()];
      const claims: string[] = [];
      const contacts: string[] = [];
      const links: string[] = [];
      const last = { refused: 0 };
      const recentOf = (list: readonly string[], nth: number) =>
        list.at(-1 - (nth % Math.max(list.length, 1))) ?? 'none-0123';
      const userOf = (user: number) => `visitor-number-${user}`;
      const toCall = (each: Action, nth: number): Call | undefined => {
        const newNames = { newContactUUID: `contact-${nth}`, newHandle: `handle-${nth}` };
        switch (each.do) {
          case 'log': {
            const contactUUID = each.contact === null ? null : recentOf(contacts, each.contact);
            const event = newEvent({ userUUID: userOf(each.user), contactUUID, eventUUID: `event-${nth}` });
            return { name: 'logEvents', request: { ...server, receivedTime: 0, events: [event] } };
          }
          case 'logAgainstHandle': {
            const contactUUID = recentOf(claims, each.claim);
            const event = newEvent({ userUUID: null, contactUUID, eventUUID: `event-${nth}` });
            return { name: 'logEvents', request: { ...browsers[each.browser], receivedTime: 0, events: [event] } };
          }
          case 'claim':
          case 'create': {
            const caller = each.do === 'create' ? server : browsers[each.browser];
            const requestUUID = each.request === null ? null : `request-${each.request}`;
            const address = `person-${each.address}@example.com`;
            const contact = newContact({ ...newNames, userUUID: userOf(each.user), address, requestUUID, time: nth });
            if (each.do === 'claim') claims.push(newNames.newHandle);
            return { name: 'createContact', request: { ...contact, ...caller, verified: each.do === 'create' } };
          }
          case 'link': {
            const contactUUID = recentOf(contacts, each.contact);
            return {
              name: 'linkUser',
              request: { account: 1, token: 1, userUUID: userOf(each.user), contactUUID, time: nth },
            };
          }
          case 'unlink':
            return { name: 'unlinkUser', request: { account: 1, token: 1, userUUID: userOf(each.user), time: nth } };
          case 'void':
            return {
              name: 'voidLinks',
              request: { account: 1, restore: each.restore, links: { linkID: recentOf(links, each.link) }, time: nth },
            };
          case 'voidToken':
            return {
              name: 'voidLinks',
              request: {
                account: 1,
                restore: each.restore,
                links: { tokenID: `token-${each.browser + 2}` },
                time: nth,
              },
            };
          case 'accept':
            return { name: 'acceptClaim', request: { account: 1, claimID: recentOf(claims, each.claim), time: nth } };
          case 'voidClaim':
            return {
              name: 'voidClaim',
              request: { account: 1, claimID: recentOf(claims, each.claim), restore: each.restore, time: nth },
            };
          case 'merge': {
            const [contactUUID, otherContactUUID] = [recentOf(contacts, each.contact), recentOf(contacts, each.other)];
            return { name: 'mergeContact', request: { account: 1, contactUUID, otherContactUUID, time: nth } };
          }
          case 'unmerge':
            return {
              name: 'unmergeContact',
              request: { account: 1, otherContactUUID: recentOf(contacts, each.contact), time: nth },
            };
          case 'erase': {
            const { verifiedOnly } = each;
            return {
              name: 'eraseContact',
              request: { account: 1, contactUUID: recentOf(contacts, each.contact), verifiedOnly, time: nth },
            };
          }
          case 'refuse': {
            const { browser, user, address, contact, claim } = each;
            const input = {
              userUUID: userOf(user),
              contactEmailaddress: address === null ? undefined : `person-${address}@example.com`,
              named: [
                contact === null ? '' : recentOf(contacts, contact),
                claim === null ? '' : recentOf(claims, claim),
              ],
            };
            const refused = {
              operation: 'logEvent',
              input,
              address: null,
              code: 'invalid_field',
              message: '',
            } as const;
            const request = { ...(browsers[browser] as StoreCaller), time: nth, sender: nth, requests: [refused] };
            return { name: 'addRefused', request };
          }
          case 'replay': {
            const refused = last.refused - each.refused;
            const event = newEvent({ userUUID: userOf(0), eventUUID: `event-${nth}` });
            const request = { ...server, receivedTime: 0, events: [event] };
            return { name: 'replayRefused', request: { refused, tokenID: 'token-2', write: 'logEvents', request } };
          }
          case 'move': {
            const change = { fields: {}, addedTags: [], removedTags: [], attributes: [], time: nth };
            const address = `person-${each.address}@example.com`;
            return {
              name: 'updateContact',
              request: { account: 1, contactUUID: recentOf(contacts, each.contact), address, ...change },
            };
          }
          default:
            return undefined;
        }
      };
      const readAll = async ({ db }: typeof stepwise) => {
        const read = createReadEngine(db);
        const query = (name: string, request: unknown) =>
          read({ name, request }).catch((error: unknown) => outcomeOf({ error }));
        const page = (await query('getEvents', { account: 1, order: 'asc', limit: 100 })) as {
          events: { why: { linkID: string | null } }[];
        };
        for (const { why } of page.events) if (why.linkID && !links.includes(why.linkID)) links.push(why.linkID);
        const include = ['link', 'claim'];
        const search = await query('searchContact', { account: 1, limit: 100 });
        const refused = (await query('listRefused', { beyond: 0, limit: 100 })) as RefusedPage;
        for (const { contactUUID } of (search as { contacts: { contactUUID: string }[] }).contacts) {
          if (!contacts.includes(contactUUID)) contacts.push(contactUUID);
        }
        return {
          events: page.events,
          refused: refused.requests.map(({ refused, input }) => ({ refused, input })),
          contacts: await Promise.all(
            contacts.map((contactUUID) => query('getContact', { ...server, contactUUID, include })),
          ),
          ofContacts: await Promise.all(
            contacts.map((contactUUID) => query('getEvents', { account: 1, contactUUID, order: 'desc', limit: 100 })),
          ),
          ofUsers: await Promise.all(
            [0, 1, 2].map((user) =>
              query('getEvents', { account: 1, userUUID: userOf(user), order: 'asc', limit: 100 }),
            ),
          ),
          handles: await Promise.all(
            claims.flatMap((contactUUID) =>
              browsers.map((caller) => query('getContact', { ...caller, contactUUID, include: [] })),
            ),
          ),
          search,
        };
      };
      for (const [nth, each] of actions.entries()) {
        if (each.do === 'maintain') for (let step = 0; step < each.steps; step += 1) stepwise.engine.maintain();
        if (each.do === 'restart') stepwise.engine = createWriteEngine(stepwise.db, { rowsPerDetaching: 1 });
        if (each.do === 'refuse') last.refused += 1;
        const call = toCall(each, nth);
        if (!call) continue;
        const [expected, actual] = [immediate, stepwise].map(({ engine }) => outcomeOf(engine.write([call])[0]));
        while (immediate.engine.maintain() !== null);
        if (each.do === 'erase' && typeof expected === 'object') {
          const { deletedEvents: _, complete: __, hasNames: ___, ...receipt } = expected as Record<string, unknown>;
          expect(actual).toMatchObject(receipt);
        } else expect(actual).toEqual(expected);
        const linkID = (expected as { linkID?: string } | undefined)?.linkID;
        if (linkID) links.push(linkID);
        if (nth % 3 > 0) continue;
        const [expectedReads, actualReads] = [await readAll(immediate), await readAll(stepwise)];
        expect(actualReads).toEqual(expectedReads);
      }
      while (stepwise.engine.maintain() !== null);
      expect(await readAll(stepwise)).toEqual(await readAll(immediate));
      const [expectedCounts, actualCounts] = [immediate, stepwise].map(({ db }) =>
        db.prepare('SELECT * FROM refused_count').all(),
      );
      expect(actualCounts).toEqual(expectedCounts);
      for (const { db } of [immediate, stepwise]) db.close();
    }),
    { numRuns: runs(3, 15) },
  );
});
