/** What one user's browser was said to be, from a sequence on. `contact` is null for an unlink. */
export interface Statement {
  /** Position in the account-wide order of events and statements: above 0, and no event or other statement has it. */
  readonly sequence: number;
  /** The contact that was found at the time (merges don't rewrite it); null is an unlink. */
  readonly contact: number | null;
  /**
   * False: only a browser token's claim, or the unlink that a claimed link became when its contact was erased. After a
   * verified link it decides nothing.
   */
  readonly verified: boolean;
  /** Taken back: ignored by every rule, and kept, so that taking it back can be undone. */
  readonly voided: boolean;
}

/** As a store keeps it. */
export interface KeptStatement extends Statement {
  /** A link that only a claim made: neither the link nor the claim was ever verified or accepted. */
  readonly onlyClaimed: boolean;
}

/** What linking a user to a contact asks of the user's list. */
export type LinkDecision =
  /** Already linked to that contact, or already claimed to be. */
  | { readonly do: 'nothing'; readonly statement: Statement }
  /** Already linked, by a claim only: mark that statement verified, in place. */
  | { readonly do: 'verify'; readonly statement: Statement }
  /** A first link, a switch to another contact, or a link after an unlink. */
  | { readonly do: 'append' };

/**
 * The statements that decide about owners. A voided one does not. Neither does a claim after a verified link, until the user
 * is unlinked: anybody who knows a userUUID can claim any address for it, and must not take over a known contact's events.
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
 * The links that give way so that at most `most` are left that only claims made: the oldest of these. A page can make any
 * number of them; verified and accepted links, and unlinks, always stay. `statements` are one user's, or all links to one contact,
 * ascending by sequence.
 */
export const linksGivingWay = <One extends KeptStatement>(statements: readonly One[], most: number): One[] => {
  const claimed = statements.filter(({ onlyClaimed }) => onlyClaimed);
  return claimed.slice(0, Math.max(0, claimed.length - most));
};

/** The statement that holds now: the last that decides. The list is one user's, ascending by sequence. */
export const currentStatement = (statements: readonly Statement[]): Statement | undefined =>
  decidingStatements(statements).at(-1);

/** The contact that the user is linked to now, as the statement names it (merges not followed), or null. */
export const linkedContact = (statements: readonly Statement[]): number | null =>
  currentStatement(statements)?.contact ?? null;

/**
 * What "this user is this contact" adds to what was said before. Repeating it adds nothing, a claim that decides nothing
 * included, and a repeat that only claims never weakens a verified statement. Merges are ignored on purpose: a statement names the contact that was
 * found, so that unmerging later puts every event back where its own link had put it.
 */
export const decideLink = (statements: readonly Statement[], contact: number, verified: boolean): LinkDecision => {
  const current = currentStatement(statements);
  if (current?.contact === contact) {
    return { do: verified && !current.verified ? 'verify' : 'nothing', statement: current };
  }
  const last = statements.findLast((statement) => !statement.voided);
  return !verified && last?.contact === contact ? { do: 'nothing', statement: last } : { do: 'append' };
};

/**
 * Whether unlinking the user appends a statement: only when the user is linked now. An unlink of somebody who isn't
 * would cut an anonymous stretch in two, and the next link would no longer reach all of it.
 */
export const decideUnlink = (statements: readonly Statement[]): boolean => linkedContact(statements) !== null;
