/** Filters of reports on the command line. */
import type { Client } from '@firsthand/client';
import { WrongUsage } from './command-errors.ts';

type Filter = NonNullable<Parameters<Client['reportTotals']>[0]['filter']>;

/** How help describes a filter. */
export const asFilter = 'a filter as JSON, or an event by its name or number';

/** The filter that an argument holds; `name` is that of the argument. Throws WrongUsage for broken JSON. */
export const toFilter = (name: string, text: string): Filter => {
  if (!text.trimStart().startsWith('{')) return { event: /^\d+$/.test(text) ? Number(text) : text };
  try {
    return JSON.parse(text);
  } catch {
    throw new WrongUsage(`${name} must be JSON, such as {"event": 7}, or an event; not ${JSON.stringify(text)}`);
  }
};
