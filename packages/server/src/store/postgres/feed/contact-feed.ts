/** Feeds the contacts that meet their conditions to reports. */
import type { ContactView } from '../../../identity/contact-view.ts';
import { readEntryMerges } from '../../operations/catalogues.ts';
import { neverSeen } from '../../rules/contact-search.ts';
import { createContactFeedPage, toPartRange } from '../../rules/feed/contact-feed.ts';
import type { ContactFeedPage, RequestOf, SearchPosition } from '../../store.ts';
import { readContacts } from '../contacts/contact-rows.ts';
import { isStale, readStaleContacts } from '../contacts/contact-search.ts';
import { rowsOf, viewsOf } from '../contacts/contact-views.ts';
import { lastSeenOf } from '../contacts/last-seen.ts';
import type { AccountConnection } from '../database/connection.ts';
import { runOperation } from '../transactions/operations.ts';

/** The number of contacts whose views are built together. */
const viewsPerStep = 200;
const inRange =
  '("createdTime", contact) > ($2::bigint, $3::bigint) AND ("createdTime", contact) < ($4::bigint, $5::bigint)';

export const feedContacts = async (
  db: AccountConnection,
  query: RequestOf<'feedContacts'>,
): Promise<ContactFeedPage> => {
  const { account, beyond, most } = query;
  const merges = await runOperation(db, readEntryMerges(account));
  const fed = createContactFeedPage(query, merges);
  const valuesOf = ({ after, before }: ReturnType<typeof toPartRange>) => [
    account,
    ...[after.key, after.contact, before.key, before.contact],
  ];
  const last = await db.get<SearchPosition>(
    `SELECT "createdTime" AS key, contact FROM contact WHERE account = $1 AND ${inRange}
     ORDER BY "createdTime", contact LIMIT 1 OFFSET $6::integer`,
    [...valuesOf(toPartRange(beyond, undefined)), most - 1],
  );
  const where = valuesOf(toPartRange(beyond, last));
  const few = await readStaleContacts(db);
  const [terms, times, unsure] = await Promise.all([
    fed.terms.length === 0
      ? []
      : db.all<{ term: number; contacts: number[] }>(
          `SELECT term, jsonb_agg(contact) AS contacts FROM contact_term
           WHERE account = $1 AND term = ANY ($6::bigint[]) AND ${inRange}
             ${few ? '' : `AND NOT ${isStale('contact_term.contact')}`} GROUP BY term`,
          [...where, fed.terms],
        ),
    fed.needsTimes
      ? db.all<{ contact: number; createdTime: number; lastSeen: number }>(
          `SELECT f.contact, f."createdTime", f."lastSeen"
           FROM (SELECT contact FROM contact WHERE account = $1 AND ${inRange} OFFSET 0) AS c
           JOIN contact_found f ON f.account = $1 AND f.contact = c.contact`,
          where,
        )
      : [],
    db.all<{ contact: number }>(
      few
        ? `SELECT contact FROM contact WHERE account = $1 AND contact = ANY ($6::bigint[]) AND ${inRange}`
        : `SELECT contact FROM contact WHERE account = $1 AND ${inRange} AND ${isStale('contact.contact')}`,
      few ? [...where, few] : where,
    ),
  ]);
  const byTerm = new Map(terms.map(({ term, contacts }) => [term, contacts]));
  const viewed = new Set([...unsure.map(({ contact }) => contact), ...fed.undecided(byTerm)]);
  // An erased contact has no row, but the index has its terms until maintenance removes them.
  const excluded = new Set([...viewed, ...(few ?? [])]);
  fed.addIndexed(byTerm, new Map(times.map((each) => [each.contact, each])), excluded);
  const numbers = [...viewed];
  for (let from = 0; from < numbers.length; from += viewsPerStep) {
    const rows = await readContacts(db, numbers.slice(from, from + viewsPerStep));
    const groups = await rowsOf(
      db,
      rows.filter(({ mergedInto }) => mergedInto === null),
    );
    const views = await viewsOf(db, groups, merges);
    const days = fed.needsTimes ? await lastSeenOf(db, groups) : [];
    for (const [nth, [row]] of groups.entries())
      if (row) fed.addViewed(row, views[nth] as ContactView, days[nth] ?? neverSeen);
  }
  return fed.done(last ?? null);
};
