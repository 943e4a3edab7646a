/**
 * The feed of owner changes (report-feed.ts). Triggers number each change in the table `owner_change`. A reader first
 * gets all users that were ever linked, by row number, then the changes since it started.
 */
import { followMerges } from '../../../identity/merges.ts';
import { stretchesOf } from '../../../identity/ownership.ts';
import type { Statement } from '../../../identity/statements.ts';
import type { FeedErasure, OwnerFeedPage, OwnershipRange } from '../../report-feed.ts';

/** The maximum number of stored changes. A reader that lags further behind starts over. */
export const maxOwnerChanges = 1_000_000;

/** The number of users or changes in one part of the feed. */
export const ownersPerPart = 5_000;

/** A row of `owner_change`. */
export type OwnerChange =
  | { readonly change: number; readonly what: 'user'; readonly user: number }
  /** A contact was merged, or a merge was undone. */
  | { readonly change: number; readonly what: 'merge' }
  | {
      readonly change: number;
      readonly what: 'stretch erased';
      /** Null: all events of the account. */
      readonly user: number | null;
      readonly after: number;
      readonly through: number;
    }
  | { readonly change: number; readonly what: 'contact erased'; readonly contact: number };

/**
 * A reader's position: the reader has read the changes up to `change` and, while it is reading users, the users up to
 * `user`.
 */
export interface OwnerPosition {
  readonly change: number;
  /** The random mark of the last change read; 0: none. Detects a restore, after which numbers are reused. */
  readonly mark: number;
  readonly user?: number;
}

export const formatPosition = ({ change, mark, user }: OwnerPosition): string =>
  user === undefined ? `${change} ${mark}` : `${change} ${mark} ${user}`;

/**
 * Parses a position. Returns undefined if the changes after it are no longer stored; the reader must then start over.
 * It must also start over if the store has a different mark at this position.
 */
export const positionOf = (text: string | null, newest: number): OwnerPosition | undefined => {
  const [, change, mark, user] = /^(\d{1,15}) (\d{1,15})(?: (\d{1,15}))?$/.exec(text ?? '') ?? [];
  if (change === undefined) return undefined;
  if (Number(change) > newest || Number(change) < newest - maxOwnerChanges) return undefined;
  return { change: Number(change), mark: Number(mark), ...(user !== undefined && { user: Number(user) }) };
};

/** Returns the ranges of a user's history that have an owner, ascending. Joins adjacent ranges of the same owner. */
export const toOwnershipRanges = (statements: readonly Statement[]): OwnershipRange[] => {
  const fed: OwnershipRange[] = [];
  for (const { after, through, contact } of stretchesOf(statements)) {
    if (contact === null) continue;
    const before = fed.at(-1);
    if (before?.contact === contact && before.through === after) fed[fed.length - 1] = { ...before, through };
    else fed.push({ after, through, contact });
  }
  return fed;
};

/** Returns each merged contact with its final owner. */
export const listMergeOwners = (
  merged: readonly { readonly contact: number; readonly mergedInto: number }[],
): NonNullable<OwnerFeedPage['merged']> => {
  const follow = followMerges(new Map(merged.map(({ contact, mergedInto }) => [contact, mergedInto])));
  return merged.map(({ contact }) => ({ contact, owner: follow(contact) }));
};

export const toFeedErasures = (changes: readonly OwnerChange[]): FeedErasure[] =>
  changes.flatMap((change): FeedErasure[] => {
    if (change.what === 'contact erased') return [{ contact: change.contact }];
    if (change.what !== 'stretch erased') return [];
    const { user, after, through } = change;
    return [user === null ? { after, through } : { user, after, through }];
  });
