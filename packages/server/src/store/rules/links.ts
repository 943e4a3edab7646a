/** Links and unlinks of a user ("statements"), as both drivers store and read them. */
import { decideClaimedLink, decideLink, type KeptStatement, type Statement } from '../../identity/statements.ts';

/** A link to be made from here on. */
export interface NewLink {
  readonly user: number;
  readonly contact: number;
  readonly verified: boolean;
  /** The claim that makes the link when a browser token sent it; else null. */
  readonly claim: number | null;
  /** All claims of the user with the same key (rules/claims.ts), when a browser token sent the link. */
  readonly claimsOfKey?: readonly number[];
  readonly token: number;
  readonly time: number;
}

export interface StatementRow extends KeptStatement {
  readonly user: number;
  readonly claim: number | null;
  readonly time: number;
}

/** The part of a statement that decides about owners, and the claim that made it. */
export type DecidingStatement = Statement & Pick<StatementRow, 'claim'>;

/**
 * Returns how a link changes the user's statements, and whether it `exists`. To a browser token, a link by another key is another
 * link, even to the same contact, and only the links of its claims count: neither `exists` nor the number of these links may show
 * what a server token linked, or that two keys find one contact.
 */
export const decideNewLink = (
  statements: readonly DecidingStatement[],
  { contact, verified, claimsOfKey }: NewLink,
): ReturnType<typeof decideLink<DecidingStatement>> & { readonly exists: boolean } => {
  const isOfKey = ({ claim }: DecidingStatement) => claim !== null && claimsOfKey?.includes(claim) === true;
  const ofClaims = claimsOfKey && decideClaimedLink(statements, isOfKey);
  const decision = ofClaims && !verified ? ofClaims : decideLink(statements, contact, ofClaims && isOfKey);
  return { ...decision, exists: (ofClaims ?? decision).do !== 'append' };
};

/** Returns the sequence of the statement that a linkID names; -1, which none has, for other text. */
export const sequenceOf = (linkID: string): number => (/^\d{1,15}$/.test(linkID) ? Number(linkID) : -1);

/** The most claims or links that are deleted when one is added. More than one, so that a contact over its limit gets back to it. */
export const maxGivingWay = 10;
