import { decidingStatements, type Statement } from './statements.ts';

/** Unbroken part of a user's history with one owner: the sequences `after` < s ≤ `through`. */
export interface Stretch {
  readonly after: number;
  /** Infinity for the open end. */
  readonly through: number;
  /** As the statement names it: merges are not followed. */
  readonly contact: number | null;
  /** The link that decided; for nobody's stretch the unlink that began it, or null when nothing was said before it. */
  readonly statement: Statement | null;
  readonly reason: 'linked' | 'reached back' | 'nobody';
}

/** Follows merges to the record that answers now; a contact that isn't merged is answered itself. */
export type Follow = (contact: number) => number;

/** What the rules need to know of an event: its place in the order, and the contact that it was logged with, if any. */
export interface PlacedEvent {
  readonly sequence: number;
  readonly contact: number | null;
}

/** Who owns an event, and what decided it. */
export interface Why {
  readonly rule: 'logged with the contact' | 'linked' | 'reached back' | 'nobody';
  readonly owner: number | null;
  /** As in `Stretch`; null when the event was logged with its contact. */
  readonly statement: Statement | null;
  /** The contact before merges were followed, when it differs from the owner. */
  readonly mergedFrom: number | null;
}

const isLink = (statement: Statement | undefined): statement is Statement & { readonly contact: number } =>
  typeof statement?.contact === 'number';

/** Rules 2 to 4, for what lies between two statements that decide: `last` before it and `next` after it. */
const decideBetween = (
  last: Statement | undefined,
  next: Statement | undefined,
): Pick<Stretch, 'contact' | 'statement' | 'reason'> => {
  if (isLink(last)) return { contact: last.contact, statement: last, reason: 'linked' };
  if (isLink(next)) return { contact: next.contact, statement: next, reason: 'reached back' };
  return { contact: null, statement: last ?? null, reason: 'nobody' };
};

/**
 * A user's whole history, (0, Infinity), cut at each statement that decides, in ascending order. Two neighbours
 * may well have the same contact: a first link reaches back over one stretch and begins another.
 * `statements` are one user's, ascending by sequence.
 */
export const stretchesOf = (statements: readonly Statement[]): Stretch[] => {
  const deciding = decidingStatements(statements);
  return [undefined, ...deciding].map((last, index) => {
    const next = deciding[index];
    return { after: last?.sequence ?? 0, through: next?.sequence ?? Infinity, ...decideBetween(last, next) };
  });
};

/** How many of the statements are at or before the sequence; by halving. */
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

/** The statements that decide, of each list that was asked about: a page of events asks about one list many times. */
const decidingOf = new WeakMap<readonly Statement[], readonly Statement[]>();

const decideAt = (statements: readonly Statement[], sequence: number) => {
  const deciding = decidingOf.get(statements) ?? decidingStatements(statements);
  decidingOf.set(statements, deciding);
  const next = countUpTo(deciding, sequence);
  return decideBetween(deciding[next - 1], deciding[next]);
};

const asNamed: Follow = (contact) => contact;

/**
 * The rules on who owns an event, in their order:
 * 1. the contact that it was logged with;
 * 2. the contact of the last link, when that is the last statement at or before it;
 * 3. the contact of the next statement after it, when that is a link: it reaches back over the anonymous stretch;
 * 4. nobody yet;
 * and last, merges are followed. Statements that don't decide are as if they had never been made.
 *
 * `statements` are those of the event's user, ascending by sequence (an empty list for an event without a user); the list
 * must not change afterwards. The first call for a list costs its length, each later one the logarithm of that.
 */
export const why = (event: PlacedEvent, statements: readonly Statement[], follow: Follow = asNamed): Why => {
  const { contact, statement, reason } =
    event.contact === null
      ? decideAt(statements, event.sequence)
      : { contact: event.contact, statement: null, reason: 'logged with the contact' as const };
  const owner = contact === null ? null : follow(contact);
  return { rule: reason, owner, statement, mergedFrom: owner === contact ? null : contact };
};

/** The contact that an event belongs to now, or null for nobody: the answer of `why` without its reasons. */
export const ownerOf = (event: PlacedEvent, statements: readonly Statement[], follow?: Follow): number | null =>
  why(event, statements, follow).owner;
