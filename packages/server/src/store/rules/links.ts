/** A user's statements (links and unlinks), as both drivers store them. */
import { decideClaimedLink, decideLink, type Statement, type StoredStatement } from '../../identity/statements.ts';

/** A link to create. */
export interface NewLink {
  readonly user: number;
  readonly contact: number;
  readonly verified: boolean;
  /** The claim that creates the link; null for a link that a server token sent. */
  readonly claim: number | null;
  /** For a link from a browser token: the user's claims with the same key as the link's claim (rules/claims.ts). */
  readonly claimsOfKey?: readonly number[];
  readonly token: number;
  readonly time: number;
}

export interface StatementRow extends StoredStatement {
  readonly user: number;
  readonly claim: number | null;
  readonly time: number;
}

/** The part of a statement that determines owners, with the claim that created the statement. */
export type StatementWithClaim = Statement & Pick<StatementRow, 'claim'>;

/**
 * Returns how a link changes the user's statements, and whether it `exists`. For a browser token, each key has its own
 * links, and only the links of its claims count. The browser token must not learn what a server token linked, or that
 * two keys find the same contact.
 */
export const decideNewLink = (
  statements: readonly StatementWithClaim[],
  { contact, verified, claimsOfKey }: NewLink,
): ReturnType<typeof decideLink<StatementWithClaim>> & { readonly exists: boolean } => {
  const isOfKey = ({ claim }: StatementWithClaim) => claim !== null && claimsOfKey?.includes(claim) === true;
  const ofClaims = claimsOfKey && decideClaimedLink(statements, isOfKey);
  const decision = ofClaims && !verified ? ofClaims : decideLink(statements, contact, ofClaims && isOfKey);
  return { ...decision, exists: (ofClaims ?? decision).do !== 'append' };
};

/** Parses a linkID to a sequence. Returns -1, which no statement has, for invalid text. */
export const sequenceOf = (linkID: string): number => (/^\d{1,15}$/.test(linkID) ? Number(linkID) : -1);

/**
 * The maximum number of claims or links to delete when one is added: more than one, so that a contact over its limit
 * recovers.
 */
export const maxDroppedPerStep = 10;
