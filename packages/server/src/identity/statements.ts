/** A statement: "from this sequence on, this user is this contact" (a link), or is nobody (an unlink). */
export interface Statement {
  /** The statement's position in the order of events and statements: above 0 and unique. */
  readonly sequence: number;
  /** The contact that was found at the time, which merges don't change; null: an unlink. */
  readonly contact: number | null;
  /**
   * False for a link that only a browser token claimed, and for the unlink that such a link became when its contact was erased.
   * After a verified link, such a statement decides nothing.
   */
  readonly verified: boolean;
  /** Taken back: every rule ignores the statement. It stays stored, so that it can be restored. */
  readonly voided: boolean;
}

/** A statement as a store holds it. */
export interface KeptStatement extends Statement {
  /** A link that was never verified, made by a claim that was never accepted. */
  readonly onlyClaimed: boolean;
}

/** How linking a user to a contact changes the user's statements. */
type LinkDecision<One> =
  /** Already linked to that contact, or already claimed to be. `verify`: only by a claim; mark that statement verified, in place. */
  | { readonly do: 'nothing' | 'verify'; readonly statement: One }
  /** A first link, a switch to another contact, or a link after an unlink. */
  | { readonly do: 'append' };

/**
 * Returns the statements that decide about owners. A voided one does not. Neither does a claimed one after a verified link, until
 * the user is unlinked: anyone who knows a userUUID can claim any address for it, and must not take over the events of a known
 * contact. `statements` are one user's, ascending by sequence.
 */
export const decidingStatements = <One extends Statement>(statements: readonly One[]): One[] => {
  let isLinked = false;
  return statements.filter(({ contact, verified, voided }) => {
    if (voided) return false;
    if (verified) isLinked = contact !== null;
    return verified || !isLinked;
  });
};

/**
 * Returns the oldest links that only claims made, beyond the newest `most` of them: these links are deleted, because a page can
 * make any number. Verified and accepted links, and unlinks, always stay. `statements` are one user's, or all links to one
 * contact, ascending by sequence.
 */
export const linksGivingWay = <One extends KeptStatement>(statements: readonly One[], most: number): One[] => {
  const claimed = statements.filter(({ onlyClaimed }) => onlyClaimed);
  return claimed.slice(0, Math.max(0, claimed.length - most));
};

/** Returns the statement in effect now: the last that decides. `statements` are one user's, ascending by sequence. */
export const currentStatement = <One extends Statement>(statements: readonly One[]): One | undefined =>
  decidingStatements(statements).at(-1);

/** Returns the contact that the user is linked to now, before merges are followed, or null. */
export const linkedContact = (statements: readonly Statement[]): number | null =>
  currentStatement(statements)?.contact ?? null;

/**
 * Returns how a verified link of a user to a contact changes the user's statements. A repeated link changes nothing. Merges are
 * ignored: a statement names the contact that was found, so that unmerging returns each event to the contact of its own link.
 * `isRepeatOf` says of a link to this contact whether it is the one that is repeated.
 */
export const decideLink = <One extends Statement>(
  statements: readonly One[],
  contact: number,
  isRepeatOf: (statement: One) => boolean = () => true,
): LinkDecision<One> => {
  const deciding = currentStatement(statements);
  if (deciding?.contact !== contact || !isRepeatOf(deciding)) return { do: 'append' };
  return { do: deciding.verified ? 'nothing' : 'verify', statement: deciding };
};

/**
 * Returns how a link that only a browser token claims changes the user's statements. It repeats the last link that a claim made,
 * unless the user was unlinked since. Links that a server token made are ignored: otherwise the page would learn whom they name.
 * `isRepeatOf` says of a link whether a claim of the same key made it.
 */
export const decideClaimedLink = <One extends Statement & { readonly claim: number | null }>(
  statements: readonly One[],
  isRepeatOf: (statement: One) => boolean,
): LinkDecision<One> => {
  const last = statements.findLast(({ contact, claim, voided }) => !voided && (claim !== null || contact === null));
  return last && last.contact !== null && isRepeatOf(last) ? { do: 'nothing', statement: last } : { do: 'append' };
};

/**
 * Whether unlinking the user appends a statement: only when the user is linked now. An unlink of an anonymous user would cut the
 * anonymous stretch in two, and the next link would no longer reach all of it.
 */
export const decideUnlink = (statements: readonly Statement[]): boolean => linkedContact(statements) !== null;
