/** Supplies reports with the contacts that meet their conditions. */
import type { ContactView } from '../../identity/contact-view.ts';
import { candidatesPerStep, type KeyRange, neverSeen } from '../rules/contact-search.ts';
import { createContactFeedPage, toPartRange } from '../rules/feed/contact-feed.ts';
import type { ContactFeedPage, RequestOf, SearchPosition } from '../store.ts';
import { readEntryMerges } from './catalogues.ts';
import { readStaleContactsIn, readTimes } from './contact-index.ts';
import { type ContactReader, type ContactRow, type Result, readViews } from './contacts.ts';
import { call, createQuery, first, type Operation, pause, together } from './operation.ts';

export interface ContactFeedReader<Row extends ContactRow> extends ContactReader<Row> {
  /** As in ContactSearchReader. */
  readonly readStale: () => Result<readonly number[] | undefined>;
  /**
   * Returns the contacts created in a range, by term. Stale contacts may be missing. `candidates` are all stale
   * contacts; undefined if there are many.
   */
  readonly readTerms: (
    range: KeyRange,
    terms: readonly number[],
    candidates: readonly number[] | undefined,
  ) => Result<ReadonlyMap<number, readonly number[]>>;
}

const selectLast = createQuery<SearchPosition>(
  () => `
    SELECT "createdTime" AS key, contact FROM contact
    WHERE account = $1 AND ("createdTime", contact) > ($2, $3) ORDER BY "createdTime", contact LIMIT 1 OFFSET $4`,
);

export function* feedContacts<Row extends ContactRow>(
  reader: ContactFeedReader<Row>,
  query: RequestOf<'feedContacts'>,
): Operation<ContactFeedPage> {
  const { account, beyond, limit } = query;
  const merges = yield* readEntryMerges(account);
  const page = createContactFeedPage(query, merges);
  const { after } = toPartRange(beyond, undefined);
  const last = yield* first(selectLast(account, after.key, after.contact, limit - 1));
  const range = toPartRange(beyond, last);
  const candidates = yield* call(reader.readStale);
  const [byTerm, times, stale] = yield* together(
    call(() => (page.terms.length > 0 ? reader.readTerms(range, page.terms, candidates) : new Map<number, number[]>())),
    page.needsTimes ? readTimes(account, range) : together<[]>(),
    readStaleContactsIn(account, range, candidates),
  );
  const viewed = new Set([...stale, ...page.undecided(byTerm)]);
  // The index may still contain the terms of an erased contact, which no longer has a row.
  const excluded = new Set([...viewed, ...(candidates ?? [])]);
  page.addIndexed(byTerm, new Map(times.map((each) => [each.contact, each])), excluded);
  const contacts = [...viewed];
  for (let from = 0; from < contacts.length; from += candidatesPerStep) {
    yield pause;
    const rows = yield* call(() => reader.readRows(contacts.slice(from, from + candidatesPerStep)));
    const { groups, views } = yield* readViews(reader, rows, merges);
    const days = page.needsTimes ? yield* call(() => reader.readLastSeen(groups)) : [];
    for (const [nth, group] of groups.entries())
      page.addViewed(group[0] as Row, views[nth] as ContactView, days[nth] ?? neverSeen);
  }
  return page.done(last ?? null);
}
