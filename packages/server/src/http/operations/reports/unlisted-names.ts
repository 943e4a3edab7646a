/**
 * Finds the names of events in a report that are not in the catalogue: only the events themselves contain these names.
 */
import { unlistedNameID } from '@firsthand/contract/labels';
import type { BreakdownQuestion, Question } from '../../../reports/questions.ts';
import { firstUnlistedID } from '../../../store/rules/accounts/unlisted-names.ts';
import type { EventKinds } from './conditions.ts';
import type { Reader, ReportRunner } from './run-report.ts';

/** How many names are read for one report, most frequent events first. */
const maxNames = 1_000;

/**
 * Returns `kinds` with the names of unlisted events added. `eventIDs` are the IDs in the rows of the result of
 * `question`.
 */
export const withUnlistedNames = async (
  run: ReportRunner['run'],
  question: Question,
  { kinds, eventIDs, reader }: { kinds: EventKinds; eventIDs: readonly string[]; reader: Reader },
): Promise<EventKinds> => {
  const unlisted = eventIDs.filter((id) => Number(id) >= firstUnlistedID && kinds.nameOf(id) === id);
  if (unlisted.length === 0) return kinds;
  const { account, from, to } = question;
  const nameQuestion: BreakdownQuestion = {
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
  for (const { values } of (await run(nameQuestion, reader)).answer.rows) {
    const [id, name] = values as readonly [string, string | null];
    if (name !== null && !names.has(id)) names.set(id, name);
  }
  return { ...kinds, nameOf: (id) => names.get(id) ?? kinds.nameOf(id) };
};
