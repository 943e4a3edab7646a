/**
 * Finds the names of a report's events that the catalogue doesn't list. These names are stored only in the events
 * themselves.
 */
import { unlistedNameID } from '@firsthand/contract/labels';
import type { BreakdownQuery, ReportQuery } from '../../../reports/queries.ts';
import { firstUnlistedID } from '../../../store/rules/accounts/unlisted-names.ts';
import type { EventKinds } from './conditions.ts';
import type { Reader, ReportRunner } from './run-report.ts';

/** The maximum number of names to read for a report, most frequent events first. */
const maxNames = 1_000;

/**
 * Returns `kinds` with the names of unlisted events added. `eventIDs` are the IDs in the rows that `query`
 * returned.
 */
export const withUnlistedNames = async (
  run: ReportRunner['run'],
  query: ReportQuery,
  { kinds, eventIDs, reader }: { kinds: EventKinds; eventIDs: readonly string[]; reader: Reader },
): Promise<EventKinds> => {
  const unlisted = eventIDs.filter((id) => Number(id) >= firstUnlistedID && kinds.nameOf(id) === id);
  if (unlisted.length === 0) return kinds;
  const { account, from, to } = query;
  const nameQuery: BreakdownQuery = {
    report: 'breakdown',
    account,
    from,
    to,
    robots: true,
    condition: { eventIDs: unlisted.map(Number) },
    value: null,
    dimensions: [{ by: 'event' }, { attrID: unlistedNameID }],
    offsets: [[from, 0]],
    sort: 'events',
    limit: maxNames,
  };
  const names = new Map<string, string>();
  for (const { values } of (await run(nameQuery, reader)).result.rows) {
    const [id, name] = values as readonly [string, string | null];
    if (name !== null && !names.has(id)) names.set(id, name);
  }
  return { ...kinds, nameOf: (id) => names.get(id) ?? kinds.nameOf(id) };
};
