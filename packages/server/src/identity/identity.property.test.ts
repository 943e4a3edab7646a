import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Action,
  actionsArbitrary,
  type ClaimedStatement,
  createModel,
} from '../../test/fixtures/identity-actions.ts';
import { followMerges, mergedWith, wouldCycle } from './merges.ts';
import { stretchesOf, why } from './ownership.ts';
import {
  decideClaimedLink,
  decideLink,
  decideUnlink,
  decidingStatements,
  findExcessLinks,
  linkedContact,
} from './statements.ts';

interface LoggedEvent {
  readonly sequence: number;
  readonly user: number;
  readonly contact: number | null;
}

/** What a store records about an account. The rules derive ownership from it. */
interface Account {
  readonly sequence: number;
  readonly events: readonly LoggedEvent[];
  readonly statements: ReadonlyMap<number, readonly ClaimedStatement[]>;
  readonly mergedInto: ReadonlyMap<number, number>;
  readonly erased: ReadonlySet<number>;
}

const empty: Account = { sequence: 0, events: [], statements: new Map(), mergedInto: new Map(), erased: new Set() };
const users = [1, 2, 3];

const statementsOf = (account: Account, user: number) => account.statements.get(user) ?? [];

const withStatements = (account: Account, user: number, statements: readonly ClaimedStatement[]): Account => ({
  ...account,
  statements: new Map(account.statements).set(user, statements),
});

const append = (account: Account, user: number, contact: number | null, verified: boolean): Account => {
  const sequence = account.sequence + 1;
  const statement = { sequence, contact, verified, voided: false, claim: verified ? null : contact };
  return { ...withStatements(account, user, [...statementsOf(account, user), statement]), sequence };
};

const replace = (account: Account, user: number, old: ClaimedStatement, change: Partial<ClaimedStatement>): Account =>
  withStatements(
    account,
    user,
    statementsOf(account, user).map((statement) => (statement === old ? { ...old, ...change } : statement)),
  );

const ownerIn = (account: Account, event: LoggedEvent) =>
  why(event, statementsOf(account, event.user), followMerges(account.mergedInto)).owner;

/** Returns the owner of every event, by its sequence. */
const ownersIn = (account: Account) =>
  new Map(account.events.map((event) => [event.sequence, ownerIn(account, event)]));

/** Whether an event has its owner only because of a claimed link. */
const isByClaimsOnly = (account: Account, event: LoggedEvent) =>
  why(event, statementsOf(account, event.user)).statement?.verified === false;

/** Returns the statement that a void action voids. */
const targetOf = (account: Account, { user, nth }: Extract<Action, { do: 'void' }>) => {
  const statements = statementsOf(account, user);
  return statements[nth % statements.length];
};

const step = (account: Account, action: Action): Account => {
  const { erased, mergedInto } = account;
  switch (action.do) {
    case 'log': {
      const { user, contact } = action;
      if (contact !== null && erased.has(contact)) return account;
      const sequence = account.sequence + 1;
      const logged = { ...account, sequence, events: [...account.events, { sequence, user, contact }] };
      const isLinked = linkedContact(statementsOf(account, user)) !== null;
      return contact === null || isLinked ? logged : append(logged, user, contact, true);
    }
    case 'link': {
      const { user, contact, verified } = action;
      if (erased.has(contact)) return account;
      const statements = statementsOf(account, user);
      const decision = verified
        ? decideLink(statements, contact)
        : decideClaimedLink(statements, (statement) => statement.contact === contact);
      if (decision.do === 'append') return append(account, user, contact, verified);
      return decision.do === 'verify' ? replace(account, user, decision.statement, { verified: true }) : account;
    }
    case 'unlink':
      return decideUnlink(statementsOf(account, action.user)) ? append(account, action.user, null, true) : account;
    case 'void': {
      const statement = targetOf(account, action);
      return statement ? replace(account, action.user, statement, { voided: true }) : account;
    }
    case 'merge': {
      const { keep, other } = action;
      if (erased.has(keep) || erased.has(other) || mergedInto.has(other)) return account;
      return wouldCycle(mergedInto, keep, other)
        ? account
        : { ...account, mergedInto: new Map(mergedInto).set(other, keep) };
    }
    case 'unmerge':
      return { ...account, mergedInto: new Map([...mergedInto].filter(([other]) => other !== action.other)) };
    case 'refuse':
      return account;
    case 'erase': {
      if (erased.has(action.contact)) return account;
      const person = followMerges(mergedInto)(action.contact);
      const isErased = (event: LoggedEvent) =>
        ownerIn(account, event) === person && !(action.verifiedOnly && isByClaimsOnly(account, event));
      const gone = mergedWith(mergedInto, person);
      const isGone = (contact: number | null) => contact !== null && gone.includes(contact);
      const unlinked = [...account.statements].map(
        ([user, list]) =>
          [user, list.map((each) => (isGone(each.contact) ? { ...each, contact: null } : each))] as const,
      );
      return {
        ...account,
        events: account.events.filter((event) => !isErased(event)),
        statements: new Map(unlinked),
        mergedInto: new Map([...mergedInto].filter(([other]) => !gone.includes(other))),
        erased: new Set([...erased, ...gone]),
      };
    }
  }
};

type Check<Do extends Action['do']> = (before: Account, action: Extract<Action, { do: Do }>, after: Account) => void;

/** Checks every action of this kind in arbitrary histories. Fails if the histories contain too few of them. */
const assertEach = <Do extends Action['do']>(name: Do, check: Check<Do>) => {
  let checked = 0;
  fc.assert(
    fc.property(actionsArbitrary, (actions) => {
      let before = empty;
      for (const action of actions) {
        const after = step(before, action);
        if (action.do === name) {
          check(before, action as Extract<Action, { do: Do }>, after);
          checked += 1;
        }
        before = after;
      }
    }),
    { numRuns: 500 },
  );
  expect(checked).toBeGreaterThan(100);
};

/** Returns the events whose owner changed, except new and erased events. */
const movedEvents = (before: Account, after: Account) => {
  const owners = ownersIn(before);
  const remaining = after.events.filter((event) => owners.has(event.sequence));
  return remaining.filter((event) => ownerIn(after, event) !== owners.get(event.sequence));
};

const deciding = (account: Account, user: number) => decidingStatements(statementsOf(account, user));

/** Returns who will own the next event that the user logs. */
const ownersOfNext = (account: Account, user: number) => {
  const later = step(account, { do: 'log', user, contact: null });
  return [ownersIn(later).get(later.sequence)];
};

/** Checks that an appended link takes exactly the anonymous events at the end of the history. */
const expectOnlyTheAnonymousStretchToMove = (before: Account, user: number, contact: number, after: Account) => {
  const last = deciding(before, user).at(-1);
  const stretch = before.events.filter(
    (event) => event.user === user && event.contact === null && event.sequence > (last?.sequence ?? 0),
  );
  const isAnonymous = typeof last?.contact !== 'number';
  expect(movedEvents(before, after)).toEqual(isAnonymous ? stretch : []);
  if (!isAnonymous) return;
  const owner = followMerges(after.mergedInto)(contact);
  expect(stretch.filter((event) => ownerIn(before, event) !== null || ownerIn(after, event) !== owner)).toEqual([]);
};

/** The number of random histories; set RUNS for a longer search. */
const histories = Number(process.env.RUNS ?? 200);

describe('the identity rules, after every action of any history,', () => {
  test('agree with the reference model about owners, statements, merges and erased events', () => {
    fc.assert(
      fc.property(actionsArbitrary, (actions) => {
        const model = createModel();
        let account = empty;
        for (const action of actions) {
          const before = account;
          account = step(account, action);
          const outcome = model.apply(action);
          if (outcome !== 'done') expect(account).toEqual(before);
          for (const user of users) expect(statementsOf(account, user)).toEqual(model.statementsOf(user));
          expect(account.mergedInto).toEqual(model.mergedInto);
          expect(account.erased).toEqual(model.erasedContacts);
          const remaining = model.events.filter(({ nth }) => !model.erasedEvents.has(nth));
          const owners = remaining.map(({ nth, sequence }) => [sequence, model.ownerOfEvent(nth)] as const);
          expect(ownersIn(account)).toEqual(new Map(owners));
        }
      }),
      { numRuns: 2 * histories },
    );
  });

  test('split a user’s history without gaps or overlaps, and agree with the owner at each point', () => {
    fc.assert(
      fc.property(actionsArbitrary, (actions) => {
        const account = actions.reduce(step, empty);
        for (const user of users) {
          const statements = statementsOf(account, user);
          const stretches = stretchesOf(statements);
          const cuts = deciding(account, user).map(({ sequence }) => sequence);
          expect(stretches.map(({ after }) => after)).toEqual([0, ...cuts]);
          expect(stretches.map(({ through }) => through)).toEqual([...cuts, Infinity]);
          for (let sequence = 1; sequence <= account.sequence + 1; sequence += 1) {
            if (statements.some((statement) => statement.sequence === sequence)) continue;
            const stretch = stretches.find(({ after, through }) => after < sequence && sequence <= through);
            expect(why({ sequence, contact: null }, statements)).toEqual({
              rule: stretch?.reason,
              owner: stretch?.contact,
              statement: stretch?.statement,
              mergedFrom: null,
            });
          }
        }
      }),
      { numRuns: histories },
    );
  });

  test('trace each owner to an unvoided statement about the contact, as it was before merges', () => {
    fc.assert(
      fc.property(actionsArbitrary, (actions) => {
        const account = actions.reduce(step, empty);
        const follow = followMerges(account.mergedInto);
        for (const event of account.events) {
          const statements = statementsOf(account, event.user);
          const { rule, owner, statement, mergedFrom } = why(event, statements, follow);
          const namedContact = mergedFrom ?? owner;
          expect(owner).toBe(ownerIn(account, event));
          expect(namedContact === null ? null : follow(namedContact)).toBe(owner);
          expect(owner === null).toBe(rule === 'nobody');
          expect(statement?.voided ?? false).toBe(false);
          if (rule === 'logged with the contact') expect([namedContact, statement]).toEqual([event.contact, null]);
          else expect(statement?.contact ?? null).toBe(namedContact);
          if (rule === 'linked') expect(statement?.sequence).toBeLessThan(event.sequence);
          if (rule === 'reached back') expect(statement?.sequence).toBeGreaterThan(event.sequence);
        }
      }),
      { numRuns: histories },
    );
  });
});

describe('the ownership rules', () => {
  test('let a link take only the trailing anonymous events, and a switch no past events', () => {
    assertEach('link', (before, { user, contact }, after) => {
      if (after.sequence === before.sequence) expect(movedEvents(before, after)).toEqual([]);
      else expectOnlyTheAnonymousStretchToMove(before, user, contact, after);
    });
  });

  test('don’t let a claim move events of a user with a verified link until the user is unlinked', () => {
    assertEach('link', (before, { user, contact, verified }, after) => {
      const link = deciding(before, user).at(-1);
      if (verified || link?.contact == null || !link.verified) return;
      expect(movedEvents(before, after)).toEqual([]);
      expect(ownersOfNext(after, user)).toEqual(ownersOfNext(before, user));
      const unlinked = step(step(after, { do: 'unlink', user }), { do: 'link', user, contact, verified: false });
      if (unlinked.erased.has(contact)) return;
      expect(ownersOfNext(unlinked, user)).toEqual([followMerges(after.mergedInto)(contact)]);
    });
  });

  test('append at most one statement per link, none for a repeated link, and only set the flag to verify one', () => {
    assertEach('link', (before, action, after) => {
      const count = statementsOf(after, action.user).length - statementsOf(before, action.user).length;
      expect(count === 0 || count === 1).toBe(true);
      expect(step(after, action)).toEqual(after);
      if (count === 0) {
        const unverified = (account: Account) =>
          statementsOf(account, action.user).map((statement) => ({ ...statement, verified: false }));
        expect(unverified(after)).toEqual(unverified(before));
      }
    });
  });

  test('link an unlinked user when an event is logged with a contact, and otherwise move no past events', () => {
    assertEach('log', (before, { user, contact }, after) => {
      const links = statementsOf(after, user).length > statementsOf(before, user).length;
      expect(links).toBe(after !== before && contact !== null && linkedContact(statementsOf(before, user)) === null);
      if (links && contact !== null) expectOnlyTheAnonymousStretchToMove(before, user, contact, after);
      else expect(movedEvents(before, after)).toEqual([]);
    });
  });

  test('move no past events on unlink, and leave later events without an owner until the next link', () => {
    assertEach('unlink', (before, { user }, after) => {
      expect(movedEvents(before, after)).toEqual([]);
      const later = step(after, { do: 'log', user, contact: null });
      expect(ownersIn(later).get(later.sequence)).toBe(null);
      const linked = step(later, { do: 'link', user, contact: 9, verified: true });
      expect(ownersIn(linked).get(later.sequence)).toBe(9);
    });
  });

  test('move only the events between the adjacent statements when a link is voided, and undo that exactly when it is restored', () => {
    assertEach('void', (before, action, after) => {
      const old = targetOf(before, action);
      if (!old) return;
      const from = deciding(after, action.user).findLast(({ sequence }) => sequence < old.sequence)?.sequence ?? 0;
      // Claims after the statement start or stop counting, up to the next verified statement.
      const next = statementsOf(after, action.user).find(
        ({ sequence, verified, voided }) => sequence > old.sequence && verified && !voided,
      );
      const through = next?.sequence ?? Infinity;
      for (const event of movedEvents(before, after)) {
        expect([event.user, event.contact]).toEqual([action.user, null]);
        expect(event.sequence > from && event.sequence < through).toBe(true);
      }
      const voided = targetOf(after, action) as ClaimedStatement;
      const restored = replace(after, action.user, voided, { voided: old.voided });
      expect(restored).toEqual(before);
      expect(ownersIn(restored)).toEqual(ownersIn(before));
    });
  });

  test('move exactly the other contact’s events on merge, and undo that exactly on unmerge', () => {
    assertEach('merge', (before, { keep, other }, after) => {
      const isMerged = after !== before;
      const owned = before.events.filter((event) => ownerIn(before, event) === other);
      expect(movedEvents(before, after)).toEqual(isMerged ? owned : []);
      if (!isMerged) return;
      for (const event of owned) expect(ownerIn(after, event)).toBe(followMerges(before.mergedInto)(keep));
      const unmerged = step(after, { do: 'unmerge', other });
      expect(unmerged).toEqual(before);
      expect(ownersIn(unmerged)).toEqual(ownersIn(before));
    });
  });

  test('move back only the merged contact’s events on unmerge, and restore the owners exactly when merging again', () => {
    assertEach('unmerge', (before, { other }, after) => {
      const keep = before.mergedInto.get(other);
      if (keep === undefined) {
        expect(after).toEqual(before);
        return;
      }
      for (const event of movedEvents(before, after)) {
        expect(ownerIn(before, event)).toBe(followMerges(before.mergedInto)(keep));
        expect(ownerIn(after, event)).toBe(other);
      }
      expect(ownersIn(step(after, { do: 'merge', keep, other }))).toEqual(ownersIn(before));
    });
  });

  test('delete the person’s events (only verified ones with verifiedOnly) and statements on erasure', () => {
    let retained = 0;
    assertEach('erase', (before, { contact, verifiedOnly }, after) => {
      if (after === before) return;
      const person = followMerges(before.mergedInto)(contact);
      const owners = ownersIn(before);
      const isOwned = ({ sequence }: LoggedEvent) => owners.get(sequence) === person;
      const staying = before.events.filter((event) => verifiedOnly && isOwned(event) && isByClaimsOnly(before, event));
      retained += staying.length;
      expect(movedEvents(before, after)).toEqual(staying);
      expect(after.events).toEqual(before.events.filter((event) => !isOwned(event) || staying.includes(event)));
      const namedContact = users.flatMap((user) => statementsOf(after, user).map((statement) => statement.contact));
      for (const gone of mergedWith(before.mergedInto, person)) {
        expect(after.erased).toContain(gone);
        expect([...namedContact, ...ownersIn(after).values(), ...[...after.mergedInto].flat()]).not.toContain(gone);
      }
    });
    expect(retained).toBeGreaterThan(20);
  });

  test('move only the events of excess claimed links when these links are deleted', () => {
    let moved = 0;
    const deleteExcess = (account: Account, contact: number, maxLinks: number) => {
      const links = users
        .flatMap((user) => statementsOf(account, user))
        .filter((statement) => statement.contact === contact)
        .map((statement) => ({ ...statement, onlyClaimed: !statement.verified }))
        .sort((a, b) => a.sequence - b.sequence);
      const deleted = findExcessLinks(links, maxLinks).map(({ sequence }) => sequence);
      const after = users.reduce((before, user) => {
        const remaining = statementsOf(before, user).filter(({ sequence }) => !deleted.includes(sequence));
        return withStatements(before, user, remaining);
      }, account);
      for (const event of movedEvents(account, after)) {
        const { statement } = why(event, statementsOf(account, event.user));
        expect(statement?.verified).toBe(false);
        expect(deleted).toContain(statement?.sequence);
        moved += 1;
      }
      return after;
    };
    fc.assert(
      fc.property(
        actionsArbitrary,
        fc.integer({ min: 1, max: 4 }),
        fc.nat({ max: 2 }),
        (actions, contact, maxLinks) => {
          const model = createModel();
          let account = empty;
          for (const action of actions) {
            model.apply(action);
            account = step(account, action);
            deleteExcess(account, contact, maxLinks);
          }
          const after = deleteExcess(account, contact, maxLinks);
          model.deleteOldestClaims(contact, maxLinks);
          for (const user of users) expect(statementsOf(after, user)).toEqual(model.statementsOf(user));
          const remaining = model.events.filter(({ nth }) => !model.erasedEvents.has(nth));
          const owners = remaining.map(({ nth, sequence }) => [sequence, model.ownerOfEvent(nth)] as const);
          expect(ownersIn(after)).toEqual(new Map(owners));
        },
      ),
      { numRuns: 1_000 },
    );
    expect(moved).toBeGreaterThan(100);
  });
});
