/** The rules that decide which contact owns an event. */
import { decidingStatements, type Statement } from './statements.ts';

/** A part of a user's history with one owner: the sequences `after` < s ≤ `through`. */
export interface Stretch {
  readonly after: number;
  /** Infinity for the open end. */
  readonly through: number;
  /** The contact of the statement, before merges are followed; null if there is none. */
  readonly contact: number | null;
  /** The deciding link, or the unlink if the user was unlinked; null if there is no earlier statement. */
  readonly statement: Statement | null;
  readonly reason: 'linked' | 'reached back' | 'nobody';
}

/**
 * Returns the contact that a contact is merged into, directly or indirectly, or the contact itself if it is not merged.
 */
export type Follow = (contact: number) => number;

/**
 * The properties of an event that determine its owner: its sequence, and the contact that it was logged with, if any.
 */
type PlacedEvent = Pick<Statement, 'sequence' | 'contact'>;

/** The owner of an event, and the rule and statement that determined it. */
export interface Why {
  readonly rule: 'logged with the contact' | 'linked' | 'reached back' | 'nobody';
  readonly owner: number | null;
  /** The deciding link or unlink, as in `Stretch`; null if the event was logged with its contact. */
  readonly statement: Statement | null;
  /** The contact before merges were followed, if it differs from the owner. */
  readonly mergedFrom: number | null;
}

/** Applies rules 2 to 4 of `why` between two adjacent deciding statements, `last` and `next`. */
const decideBetween = (
  last: Statement | undefined,
  next: Statement | undefined,
): Pick<Stretch, 'contact' | 'statement' | 'reason'> => {
  if (typeof last?.contact === 'number') return { contact: last.contact, statement: last, reason: 'linked' };
  if (typeof next?.contact === 'number') return { contact: next.contact, statement: next, reason: 'reached back' };
  return { contact: null, statement: last ?? null, reason: 'nobody' };
};

/**
 * Splits a user's whole history, (0, Infinity), at each deciding statement; ascending. Adjacent stretches can have the
 * same contact: a first link reaches back over one stretch and starts another. `statements` are one user's, ascending
 * by sequence.
 */
export const stretchesOf = (statements: readonly Statement[]): Stretch[] => {
  const deciding = decidingStatements(statements);
  return [undefined, ...deciding].map((last, index) => {
    const next = deciding[index];
    return { after: last?.sequence ?? 0, through: next?.sequence ?? Infinity, ...decideBetween(last, next) };
  });
};

/**
 * Returns the parts of a user's history, up to the sequence `last`, that belong to one of these contacts before merges
 * are followed; ascending, with adjacent parts joined. `verifiedOnly` omits parts that depend on claimed links.
 */
export const stretchesOwnedBy = (
  contacts: readonly number[],
  statements: readonly Statement[],
  { verifiedOnly = false, last = Infinity } = {},
): Pick<Stretch, 'after' | 'through'>[] => {
  const owned: Pick<Stretch, 'after' | 'through'>[] = [];
  for (const { contact, statement, after, through } of stretchesOf(statements)) {
    if (contact === null || !contacts.includes(contact) || after >= last) continue;
    if (verifiedOnly && !statement?.verified) continue;
    const before = owned.at(-1)?.through === after ? owned.pop() : undefined;
    owned.push({ after: before?.after ?? after, through: Math.min(through, last) });
  }
  return owned;
};

/** Counts the statements at or before the sequence, by binary search. */
const countUpTo = (statements: readonly Statement[], sequence: number): number => {
  let low = 0;
  let high = statements.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((statements[middle] as Statement).sequence <= sequence) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** Caches the deciding statements of each list, because a page of events passes the same list many times. */
const decidingCache = new WeakMap<readonly Statement[], readonly Statement[]>();

const decideAt = (statements: readonly Statement[], sequence: number) => {
  const deciding = decidingCache.get(statements) ?? decidingStatements(statements);
  decidingCache.set(statements, deciding);
  const next = countUpTo(deciding, sequence);
  return decideBetween(deciding[next - 1], deciding[next]);
};

const withoutMerges: Follow = (contact) => contact;

/**
 * Returns the owner of an event and what determined it. The first rule that applies determines the contact:
 * 1. the contact that the event was logged with;
 * 2. the contact of the last statement at or before the event, if that is a link;
 * 3. the contact of the next statement after the event, if that is a link: it reaches back over the anonymous stretch;
 * 4. otherwise the event has no owner.
 * Then merges are followed. Only `decidingStatements` count.
 *
 * `statements` are those of the event's user, ascending by sequence; empty for an event without a user. The list must
 * not change afterwards: the first call for a list of n statements takes O(n); later calls use a cache and take O(log
 * n).
 */
export const why = (event: PlacedEvent, statements: readonly Statement[], follow: Follow = withoutMerges): Why => {
  const { contact, statement, reason } =
    event.contact === null
      ? decideAt(statements, event.sequence)
      : { contact: event.contact, statement: null, reason: 'logged with the contact' as const };
  const owner = contact === null ? null : follow(contact);
  return { rule: reason, owner, statement, mergedFrom: owner === contact ? null : contact };
};
