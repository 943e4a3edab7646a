// Compares the rules that a store applies in SQL with a model that replays the history.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { followMerges } from '../../src/identity/merges.ts';
import { why } from '../../src/identity/ownership.ts';
import { Refusal } from '../../src/shared/refusal.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store, StoredEvent } from '../../src/store/store.ts';
import { newDatabaseURL, tuning } from '../fixtures/database.ts';
import { type Action, actionsArbitrary, createModel, type Outcome } from '../fixtures/identity-actions.ts';
import { createFedAccount, expectAgreement } from '../fixtures/reports/fed-account.ts';
import { runs } from '../fixtures/runs.ts';
import { createSite } from '../fixtures/site.ts';
import { accountContact, expectRefusal, newID } from '../fixtures/store.ts';

const users = [1, 2, 3];
const contacts = [1, 2, 3, 4];
const userUUIDOf = (user: number) => `visitor-number-${user}`;
const addressOf = (contact: number) => `contact-${contact}@example.com`;

/** Creates a history that is applied to the model and to a store. */
const createHistory = async (store: Store) => {
  const site = await createSite(store);
  const model = createModel();
  const contactUUIDs = new Map(contacts.map((contact) => [contact, newID('contact')]));
  const eventUUIDs: string[] = [];
  /** The browser's handle for each user and claimed contact. */
  const handles = new Map<string, string>();
  /** The store's linkID for each statement, by its sequence in the model. */
  const linkIDs = new Map<number, string>();
  /** The linkIDs of links whose contact was erased. */
  const erasedLinks = new Set<string>();
  /** Messages of refused requests, by their number in the model. */
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

  /** Applies an action to the store, and returns its statement, if any. Throws a Refusal if the store rejects it. */
  const applyToStore = async (action: Action): Promise<string | undefined> => {
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
        await store.addRefused({ account, token, time: site.time, sender: 0, requests: [request] });
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
   * Whether the model doesn't cover an action: a browser that claims an erased address creates a new contact, and the
   * store rejects voiding an erased link.
   */
  const isUncovered = (action: Action): boolean =>
    (action.do === 'link' && !action.verified && model.erasedContacts.has(action.contact)) ||
    (action.do === 'void' && erasedLinks.has(voidedLink(action) ?? ''));

  const step = async (action: Action): Promise<void> => {
    if (isUncovered(action)) return;
    const linkID = await applyToStore(action).catch((error: unknown) => {
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

  /** Returns the nth event, as the model expects it to be read. */
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

  /**
   * Returns the links and claims that the model expects for a contact that has not been merged into another, including
   * those of contacts merged into it.
   */
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

  /** Returns whether the model expects each handle to be valid. */
  const expectedHandles = () =>
    [...handles].map(([name, handle]) => {
      const [user, contact] = name.split(' ').map(Number);
      return { handle, isValid: model.claims().some((claim) => claim.user === user && claim.contact === contact) };
    });

  const expectedRefused = () => model.refused().map(({ nth }) => refusedTexts[nth]);

  const fed = createFedAccount(store, site.account);

  return { site, fed, model, uuidOf, step, expected, expectedOf, expectedHandles, expectedRefused };
};
type History = Awaited<ReturnType<typeof createHistory>>;

const toComparable = ({
  eventUUID,
  userUUID,
  contactUUID,
  why: { rule, linkID, verified, mergedFrom },
}: StoredEvent) => ({
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
  expect(events.map(toComparable)).toEqual(remaining(history).map(history.expected));
};

const expectSameHistories = async (history: History) => {
  // Expects the report feed's increments to result in the same histories.
  await expectAgreement(history.fed, history.site);
  const { site, model, uuidOf, expected, expectedOf, expectedHandles, expectedRefused } = history;
  const { requests } = await site.store.listRefused({ account: site.account, beyond: 0, limit: 100 });
  expect(requests.map(({ message }) => message)).toEqual(expectedRefused());
  for (const { handle, isValid } of expectedHandles()) {
    const contact = site.browser.getContact(handle);
    if (isValid) expect(await contact).toMatchObject({ contactUUID: handle });
    else await expectRefusal(contact, 'erased_contact');
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
    expect((await site.events({ contactUUID })).map(toComparable)).toEqual(events);
  }
};

const histories = runs(20, 15);

describe('a store after every action in any history', () => {
  let store: Store;
  beforeAll(async () => {
    const onFatal = (error: Error) => {
      throw error;
    };
    store = await openStore({ databaseURL: await newDatabaseURL(), role: 'server', onFatal, tuning });
  });
  afterAll(() => store.close());

  test('agrees with the model on each event’s owner and its reason, and on each contact’s history', async () => {
    const done: Partial<Record<Action['do'], number>> = {};
    /** The number of events that an erasure kept because only claims assigned them to the contact. */
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
