/** Finds the names of the events in a report that their account does not list: only the events have them. */
import { unlistedNameID } from '@firsthand/contract/labels';
import type { BreakdownQuestion, Question } from '../../../reports/questions.ts';
import { firstUnlistedID } from '../../../store/rules/accounts/unlisted-names.ts';
import type { Ask, Reader } from './asking.ts';
import type { EventKinds } from './conditions.ts';

/** Names that are read for one report, those of the most frequent events first. */
const maxNames = 1_000;

/** Returns `kinds` with the names of the unlisted ones among `eventIDs`, those in the rows of the report about `question`. */
export const withUnlistedNames = async (
  ask: Ask['ask'],
  question: Question,
  { kinds, eventIDs, reader }: { kinds: EventKinds; eventIDs: readonly string[]; reader: Reader },
): Promise<EventKinds> => {
  const unlisted = eventIDs.filter((id) => Number(id) >= firstUnlistedID && kinds.nameOf(id) === id);
  if (unlisted.length === 0) return kinds;
  const { account, from, to } = question;
  const naming: BreakdownQuestion = {
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
  for (const { values } of (await ask(naming, reader)).answer.rows) {
    const [id, name] = values as readonly [string, string | null];
    if (name !== null && !names.has(id)) names.set(id, name);
  }
  return { ...kinds, nameOf: (id) => names.get(id) ?? kinds.nameOf(id) };
};
