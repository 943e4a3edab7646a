/** Feeds the contacts that meet their conditions to reports. */
import type { ContactView } from '../../../identity/contact-view.ts';
import { readEntryMerges } from '../../operations/catalogues.ts';
import { candidatesPerStep, type KeyRange, neverSeen } from '../../rules/contact-search.ts';
import { createContactFeedPage, toPartRange } from '../../rules/feed/contact-feed.ts';
import type { ContactFeedPage, RequestOf, SearchPosition } from '../../store.ts';
import { createContactFinder } from '../contacts/contact-finder.ts';
import { createStaleContacts, type Range, toRangeParameters } from '../contacts/contact-index-parts.ts';
import type { ContactRow } from '../contacts/contact-rows.ts';
import { createContactViews } from '../contacts/contact-views.ts';
import { createLastSeen } from '../contacts/last-seen.ts';
import type { Connection } from '../database/connection.ts';
import type { ChunkedRead } from '../transactions/chunked-reads.ts';
import { createOperationRunner } from '../transactions/operations.ts';

type AccountRange = Range & { readonly account: number };
const inRange = `(createdTime, contact) > (@afterKey, @afterContact) AND (createdTime, contact) < (@beforeKey, @beforeContact)`;

export const createContactFeed = (db: Connection) => {
  const runOperation = createOperationRunner(db);
  const { groupsOf, viewsOf } = createContactViews(db);
  const lastSeenOf = createLastSeen(db);
  const staleContacts = createStaleContacts(db, createContactFinder(db));
  const lastOfPart = db.prepare<AccountRange & { offset: number }, SearchPosition>(
    `SELECT createdTime AS key, contact FROM contact WHERE account = @account AND ${inRange}
     ORDER BY createdTime, contact LIMIT 1 OFFSET @offset`,
  );
  const withTerm = db
    .prepare<AccountRange & { term: number }, number>(
      `SELECT contact FROM contact_term WHERE account = @account AND term = @term AND ${inRange}`,
    )
    .pluck();
  const timesOf = db.prepare<AccountRange, { contact: number; createdTime: number; lastSeen: number }>(
    `SELECT f.contact, f.createdTime, f.lastSeen FROM (SELECT contact FROM contact WHERE account = @account AND ${inRange}) c
     CROSS JOIN contact_found f ON f.contact = c.contact`,
  );
  const filterByRange = db
    .prepare<AccountRange & { numbers: string }, number>(
      `SELECT contact FROM json_each(@numbers) given CROSS JOIN contact c ON c.contact = given.value
       WHERE account = @account AND ${inRange}`,
    )
    .pluck();
  const rowsOf = db.prepare<[string, number], ContactRow>(
    `SELECT c.* FROM json_each(?) given CROSS JOIN contact c ON c.contact = given.value WHERE c.account = ? AND c.mergedInto IS NULL`,
  );

  return function* feedContacts(query: RequestOf<'feedContacts'>): ChunkedRead<ContactFeedPage> {
    const { account, beyond, most } = query;
    const merges = runOperation(readEntryMerges(account));
    const part = createContactFeedPage(query, merges);
    const last = lastOfPart.get({ account, ...toRangeParameters(toPartRange(beyond, undefined)), offset: most - 1 });
    const range: KeyRange = toPartRange(beyond, last);
    const where = { account, ...toRangeParameters(range) };
    const byTerm = new Map(part.terms.map((term) => [term, withTerm.all({ ...where, term })]));
    const times = new Map(part.needsTimes ? timesOf.all(where).map((each) => [each.contact, each]) : []);
    const few = staleContacts.few(account);
    const changed = few
      ? filterByRange.all({ ...where, numbers: JSON.stringify(few) })
      : staleContacts.within(account, range);
    const viewed = new Set([...changed, ...part.undecided(byTerm)]);
    part.addIndexed(byTerm, times, viewed);
    const numbers = [...viewed];
    for (let from = 0; from < numbers.length; from += candidatesPerStep) {
      yield;
      const groups = groupsOf(rowsOf.all(JSON.stringify(numbers.slice(from, from + candidatesPerStep)), account));
      const views = viewsOf(groups, merges);
      for (const [nth, group] of groups.entries()) {
        const lastSeen = part.needsTimes ? lastSeenOf(group) : neverSeen;
        part.addViewed(group[0] as ContactRow, views[nth] as ContactView, lastSeen);
      }
    }
    return part.done(last ?? null);
  };
};
