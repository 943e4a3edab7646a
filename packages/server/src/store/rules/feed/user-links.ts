/** Builds a user's links for an export from its statements. */

import type { UserLinks } from '../../store.ts';
import type { StatementRow } from '../links.ts';
import { toOwnershipRanges } from './owner-feed.ts';

/** Returns the contacts in these statements. */
export const linkedContactsOf = (lists: Iterable<readonly StatementRow[]>): number[] => [
  ...new Set([...lists].flatMap((statements) => statements.flatMap(({ contact }) => contact ?? []))),
];

/** `contactUUIDs` has all contacts in the statements, by number. */
export const toUserLinks = (
  userUUID: string,
  statements: readonly StatementRow[],
  contactUUIDs: ReadonlyMap<number, string>,
): UserLinks => ({
  userUUID,
  links: statements.map(({ sequence, contact, time, verified, voided }) => ({
    linkID: String(sequence),
    contactUUID: contactUUIDs.get(contact ?? 0) ?? '',
    linkTime: time,
    verified,
    voided,
  })),
  stretches: toOwnershipRanges(statements).map(({ contact, ...stretch }) => ({
    ...stretch,
    contactUUID: contactUUIDs.get(contact) as string,
  })),
});
