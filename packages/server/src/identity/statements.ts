/** A statement: "from this sequence on, this user is this contact" (a link) or "no contact" (an unlink). */
export interface Statement {
  /** The statement's position in the order of events and statements: positive and unique. */
  readonly sequence: number;
  /** The contact at that time, regardless of later merges; null for an unlink. */
  readonly contact: number | null;
  /**
   * False for a link that only a browser token claimed, and for the unlink that such a link became when its contact was
   * erased. After a verified link, such a statement has no effect.
   */
  readonly verified: boolean;
  /** Every rule ignores a voided statement. It stays stored, so that it can be restored. */
  readonly voided: boolean;
}

/** A stored statement. */
export interface StoredStatement extends Statement {
  /** Whether it is an unverified link from a claim that was never accepted. */
  readonly onlyClaimed: boolean;
}

/** The marks of the claim that created a statement. */
interface ClaimMarks {
  readonly accepted: boolean;
  readonly voided: boolean;
}

/**
 * Applies a claim's marks to the statement that it created, unless the statement was verified separately. So accepting
 * or voiding a claim changes only the claim, and can be undone exactly. `claim` is undefined without a claim.
 */
export const applyClaimMarks = (
  { verified, voided }: Pick<Statement, 'verified' | 'voided'>,
  claim: ClaimMarks | undefined,
): Pick<StoredStatement, 'verified' | 'voided' | 'onlyClaimed'> => ({
  verified: verified || (claim?.accepted === true && !claim.voided),
  voided: voided || (claim?.voided === true && !verified),
  onlyClaimed: claim?.accepted === false && !verified,
});

/** How linking a user to a contact changes the user's statements. */
type LinkDecision<One> =
  /** Already linked to that contact. `verify`: the link is only claimed, so mark that statement as verified. */
  | { readonly do: 'nothing' | 'verify'; readonly statement: One }
  /** A first link, a switch to another contact, or a link after an unlink. */
  | { readonly do: 'append' };

/**
 * Returns the statements that determine owners. Excludes voided statements, and claimed links between a verified link
 * and an unlink. Anyone who knows a userUUID can claim any address for it, but must not take over the events of a known
 * contact.
 *
 * `statements` are one user's, ascending by sequence.
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
 * Returns all but the newest `maxLinks` claimed links. The caller deletes them, because a page can create any number.
 * Verified links, accepted links and unlinks always stay. `statements` are one user's, or all links to one contact,
 * ascending by sequence.
 */
export const findExcessLinks = <One extends StoredStatement>(statements: readonly One[], maxLinks: number): One[] => {
  const claimed = statements.filter(({ onlyClaimed }) => onlyClaimed);
  return claimed.slice(0, Math.max(0, claimed.length - maxLinks));
};

/**
 * Returns the statement currently in effect: the last deciding one. `statements` are one user's, ascending by sequence.
 */
export const currentStatement = <One extends Statement>(statements: readonly One[]): One | undefined =>
  decidingStatements(statements).at(-1);

/** Returns the contact that the user is currently linked to, before merges are followed, or null. */
export const linkedContact = (statements: readonly Statement[]): number | null =>
  currentStatement(statements)?.contact ?? null;

/**
 * Returns how a verified link of a user to a contact changes the user's statements. A repeated link changes nothing.
 * Statements ignore merges, so that unmerging returns each event to the contact of its own link.
 *
 * `isRepeatOf` checks whether the new link repeats a given link to this contact.
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
 * Returns how a link claimed with a browser token changes the user's statements. The link counts as repeated only if it
 * repeats the last claimed link, and the user has not been unlinked since. Links created with a server token are
 * ignored: otherwise the page would learn which contact they refer to.
 *
 * `isRepeatOf` checks whether a link comes from a claim with the same key.
 */
export const decideClaimedLink = <One extends Statement & { readonly claim: number | null }>(
  statements: readonly One[],
  isRepeatOf: (statement: One) => boolean,
): LinkDecision<One> => {
  const last = statements.findLast(({ contact, claim, voided }) => !voided && (claim !== null || contact === null));
  return last && last.contact !== null && isRepeatOf(last) ? { do: 'nothing', statement: last } : { do: 'append' };
};

/**
 * Whether unlinking the user appends a statement: only if the user is currently linked. An unlink of an anonymous user
 * would split the anonymous stretch, and the next link would no longer reach back over all of it.
 */
export const decideUnlink = (statements: readonly Statement[]): boolean => linkedContact(statements) !== null;
