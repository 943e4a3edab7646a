/** Links and unlinks of a user ("statements"), as both drivers store and read them. */
import type { KeptStatement, Statement } from '../../identity/statements.ts';

/** A link to be made from here on. */
export interface NewLink {
  readonly user: number;
  readonly contact: number;
  readonly verified: boolean;
  /** The claim that makes the link when a browser token sent it; else null. */
  readonly claim: number | null;
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

/** Returns the sequence of the statement that a linkID names; -1, which none has, for other text. */
export const sequenceOf = (linkID: string): number => (/^\d{1,15}$/.test(linkID) ? Number(linkID) : -1);

/** The most claims or links that are deleted when one is added. More than one, so that a contact over its limit gets back to it. */
export const mostGivingWay = 10;
