/** Report filters on the command line. */
import type { Client } from '@firsthand/client';
import { UsageError } from './command-errors.ts';

type Filter = NonNullable<Parameters<Client['reportTotals']>[0]['filter']>;

export const filterHelp = 'a filter as JSON, or an event by its name or number';

/** Parses a filter. `name` is the argument's name in messages. Throws UsageError for invalid JSON. */
export const parseFilter = (name: string, text: string): Filter => {
  if (!text.trimStart().startsWith('{')) return { event: /^\d+$/.test(text) ? Number(text) : text };
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`${name} must be JSON, such as {"event": 7}, or an event; not ${JSON.stringify(text)}`);
  }
};
