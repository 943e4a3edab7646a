// The rules as a store applies them in SQL, held against the model that replays what happened.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { followMerges } from '../../src/identity/merges.ts';
import { why } from '../../src/identity/ownership.ts';
import { Refusal } from '../../src/shared/refusal.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store, StoredEvent } from '../../src/store/store.ts';
import { arrangement, newDatabaseURL } from '../fixtures/database.ts';
import { type Action, actionsArbitrary, createModel, type Outcome } from '../fixtures/identity-actions.ts';
import { createFedAccount, expectAgreement } from '../fixtures/reports/fed-account.ts';
import { runs } from '../fixtures/runs.ts';
import { createSite } from '../fixtures/site.ts';
import { accountContact, expectRefusal, newID } from '../fixtures/store.ts';

const users = [1, 2, 3];
const contacts = [1, 2, 3, 4];
const userUUIDOf = (user: number) => `visitor-number-${user}`;
const addressOf = (contact: number) => `contact-${contact}@example.com`;

/** One history, told to the model and to a store at once. */
const createHistory = async (store: Store) => {
  const site = await createSite(store);
  const model = createModel();
  const contactUUIDs = new Map(contacts.map((contact) => [contact, newID('contact')]));
  const eventUUIDs: string[] = [];
  /** What the browser calls the contact that it claimed a user to be. */
  const handles = new Map<string, string>();
  /** What the store calls each statement, by the sequence that the model gives it. */
  const linkIDs = new Map<number, string>();
  /** Of statements that named a contact which is erased now. */
  const erasedLinks = new Set<string>();
  /** Texts of refused requests, by the number that the model gives them. */
  const refusedTexts: string[] = [];

  const uuidOf = (contact: number) => contactUUIDs.get(contact) as string;
  await site.change({
    contacts: contacts.map((contact) =>
      accountContact({ address: addressOf(contact), newContactUUID: uuidOf(contact) }),
    ),
  });

  const lastLinkOf = async (user: number, contact: number) => {
    const { links = [] } = await site.server.getContact(uuidOf(contact), 'link');
    return links.findLast((link) => link.userUUID === userUUIDOf(user) && link.contactUUID === uuidOf(contact))?.linkID;
  };

  const voidedLink = ({ user, nth }: Extract<Action, { do: 'void' }>) => {
    const statements = model.statementsOf(user);
    return linkIDs.get(statements[nth % statements.length]?.sequence ?? 0);
  };

  /** Carries an action out; throws a Refusal where the store refuses it. Answers the statement that it made, if any. */
  const act = async (action: Action): Promise<string | undefined> => {
    switch (action.do) {
      case 'log': {
        const eventUUID = newID('event');
        const contactUUID = action.contact === null ? null : uuidOf(action.contact);
        const [outcome] = await site.server.log({ userUUID: userUUIDOf(action.user), contactUUID, eventUUID });
        if (outcome && 'refused' in outcome) throw new Refusal(outcome.refused, outcome);
        eventUUIDs.push(eventUUID);
        return action.contact === null ? undefined : lastLinkOf(action.user, action.contact);
      }
      case 'link': {
        const { user, contact, verified } = action;
        if (verified) return (await site.link(userUUIDOf(user), uuidOf(contact))).linkID;
        const { contactUUID: handle } = await site.browser.createContact({
          userUUID: userUUIDOf(user),
          address: addressOf(contact),
        });
        handles.set(`${user} ${contact}`, handle);
        return lastLinkOf(user, contact);
      }
      case 'unlink':
        return (await site.unlink(userUUIDOf(action.user))).linkID;
      case 'void':
        await site.voidLink(voidedLink(action) ?? 'none');
        return;
      case 'merge':
        await site.merge(uuidOf(action.keep), uuidOf(action.other));
        return;
      case 'unmerge':
        await site.unmerge(uuidOf(action.other));
        return;
      case 'refuse': {
        const message = newID('refused');
        const contactUUID = action.contact === null ? '' : uuidOf(action.contact);
        const input = { userUUID: userUUIDOf(action.user), contactUUID };
        const request = { operation: 'logEvent', input, address: null, code: 'invalid_field', message } as const;
        const { account, token } = site.browser;
        await store.keepRefused({ account, token, time: site.time, sender: 0, requests: [request] });
        if (action.contact === null || !model.erasedContacts.has(action.contact)) refusedTexts.push(message);
        return;
      }
      case 'erase': {
        if (model.erasedContacts.has(action.contact)) throw new Refusal('erased_contact');
        const { account, time } = site;
        const { contact, verifiedOnly } = action;
        await store.eraseContact({ account, contactUUID: uuidOf(contact), verifiedOnly, time });
        return;
      }
    }
  };

  /**
   * What the store needn't be asked: an erased address is nobody's, so that a browser which claims it makes a new
   * contact; and an erased link is an unlink for good, which the store doesn't void and the model would.
   */
  const isOutside = (action: Action): boolean =>
    (action.do === 'link' && !action.verified && model.erasedContacts.has(action.contact)) ||
    (action.do === 'void' && erasedLinks.has(voidedLink(action) ?? ''));

  const step = async (action: Action): Promise<void> => {
    if (isOutside(action)) return;
    const linkID = await act(action).catch((error: unknown) => {
      if (error instanceof Refusal) return error;
      throw error;
    });
    const before = users.map((user) => model.statementsOf(user));
    const outcome: Outcome = model.apply(action);
    if (outcome === 'done') expect(linkID, `${action.do} is refused`).not.toBeInstanceOf(Refusal);
    for (const [index, user] of users.entries()) {
      const statements = model.statementsOf(user);
      for (const [nth, { sequence, contact }] of statements.entries()) {
        const earlier = before[index]?.[nth];
        if (!earlier) linkIDs.set(sequence, linkID as string);
        else if (contact !== earlier.contact) erasedLinks.add(linkIDs.get(sequence) as string);
      }
    }
  };

  /** What the model expects a read of the nth event to say. */
  const expected = (nth: number) => {
    const { user, sequence, contact } = model.events[nth] as (typeof model.events)[number];
    const reason = why({ sequence, contact }, model.statementsOf(user), followMerges(model.mergedInto));
    const owner = model.ownerOfEvent(nth);
    return {
      eventUUID: eventUUIDs[nth],
      userUUID: userUUIDOf(user),
      contactUUID: owner === null ? '' : uuidOf(owner),
      rule: reason.rule,
      linkID: reason.statement === null ? null : linkIDs.get(reason.statement.sequence),
      verified: reason.statement?.verified ?? null,
      mergedFrom: reason.mergedFrom === null ? null : uuidOf(reason.mergedFrom),
    };
  };

  /** What the model expects of the record of a contact that is not merged: the links and claims of all that it stands for. */
  const expectedOf = (person: number) => {
    const isTheirs = (contact: number | null) => contact !== null && followMerges(model.mergedInto)(contact) === person;
    const links = users.flatMap((user) =>
      model.statementsOf(user).flatMap(({ sequence, contact, verified, voided }) => {
        const [linkID, contactUUID] = [linkIDs.get(sequence), uuidOf(contact ?? 0)];
        return isTheirs(contact) ? [{ linkID, userUUID: userUUIDOf(user), contactUUID, verified, voided }] : [];
      }),
    );
    const claims = model.claims().filter(({ contact }) => isTheirs(contact));
    return {
      links: links.sort((a, b) => Number(a.linkID) - Number(b.linkID)),
      claims: claims.map(({ user, contact }) => ({
        claimID: handles.get(`${user} ${contact}`),
        userUUID: userUUIDOf(user),
        contactUUID: uuidOf(contact),
      })),
    };
  };

  /** What the model expects each handle to answer. */
  const expectedHandles = () =>
    [...handles].map(([name, handle]) => {
      const [user, contact] = name.split(' ').map(Number);
      return { handle, isLeft: model.claims().some((claim) => claim.user === user && claim.contact === contact) };
    });

  const expectedRefused = () => model.refused().map(({ nth }) => refusedTexts[nth]);

  const fed = createFedAccount(store, site.account);

  return { site, fed, model, uuidOf, step, expected, expectedOf, expectedHandles, expectedRefused };
};
type History = Awaited<ReturnType<typeof createHistory>>;

const told = ({ eventUUID, userUUID, contactUUID, why: { rule, linkID, verified, mergedFrom } }: StoredEvent) => ({
  eventUUID,
  userUUID,
  contactUUID,
  rule,
  linkID,
  verified,
  mergedFrom,
});

const remaining = ({ model }: History) => model.events.flatMap(({ nth }) => (model.erasedEvents.has(nth) ? [] : [nth]));

const expectSameEvents = async (history: History) => {
  const events = await history.site.events();
  expect(events.map(told)).toEqual(remaining(history).map(history.expected));
};

const expectSameHistories = async (history: History) => {
  // What reports are told between two askings adds up to the same.
  await expectAgreement(history.fed, history.site);
  const { site, model, uuidOf, expected, expectedOf, expectedHandles, expectedRefused } = history;
  const { requests } = await site.store.listRefused({ account: site.account, beyond: 0, limit: 100 });
  expect(requests.map(({ message }) => message)).toEqual(expectedRefused());
  for (const { handle, isLeft } of expectedHandles()) {
    const found = site.browser.getContact(handle);
    if (isLeft) expect(await found).toMatchObject({ contactUUID: handle });
    else await expectRefusal(found, 'erased_contact');
  }
  for (const contact of contacts) {
    const contactUUID = uuidOf(contact);
    if (model.erasedContacts.has(contact)) {
      await expectRefusal(site.events({ contactUUID }), 'erased_contact');
      await expectRefusal(site.server.getContact(contactUUID), 'erased_contact');
      continue;
    }
    const number = followMerges(model.mergedInto)(contact);
    const person = uuidOf(number);
    expect(await site.server.getContact(contactUUID, 'link', 'claim')).toMatchObject({
      contactUUID: person,
      ...expectedOf(number),
    });
    const events = remaining(history)
      .map(expected)
      .filter((event) => event.contactUUID === person);
    expect((await site.events({ contactUUID })).map(told)).toEqual(events);
  }
};

const histories = runs(40, 15);

describe('in a store, as in the model, after every action of any history', () => {
  let store: Store;
  beforeAll(async () => {
    const onFatal = (error: Error) => {
      throw error;
    };
    store = await openStore({ databaseURL: await newDatabaseURL(), role: 'server', onFatal, arrangement });
  });
  afterAll(() => store.close());

  test('each event has the same owner, for the same reason, and each contact the same history', async () => {
    const done: Partial<Record<Action['do'], number>> = {};
    /** Events that an erasure left because they were the contact's by claims only. */
    let spared = 0;
    await fc.assert(
      fc.asyncProperty(actionsArbitrary, async (actions) => {
        const history = await createHistory(store);
        for (const [nth, action] of actions.entries()) {
          const { ownerOfEvent, erasedContacts, erasedEvents } = history.model;
          const owned = action.do === 'erase' ? remaining(history).filter((each) => ownerOfEvent(each) !== null) : [];
          const owners = owned.map(ownerOfEvent);
          await history.step(action);
          done[action.do] = (done[action.do] ?? 0) + 1;
          await expectSameEvents(history);
          if (nth % 5 === 0 || action.do === 'erase') await expectSameHistories(history);
          const isSpared = (each: number, index: number) =>
            erasedContacts.has(owners[index] as number) && !erasedEvents.has(each);
          spared += owned.filter(isSpared).length;
        }
        await expectSameHistories(history);
      }),
      { numRuns: histories },
    );
    for (const times of Object.values(done)) expect(times).toBeGreaterThan(histories / 6);
    expect(spared).toBeGreaterThan(histories / 20);
  });
});
