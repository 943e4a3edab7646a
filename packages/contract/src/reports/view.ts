/** Saved views: pages of reports of the console, under a name. */
import * as z from 'zod';
import * as told from '../answer.ts';
import * as field from '../fields.ts';
import { limits } from '../limits.ts';

export const viewPages = ['overview', 'events'] as const;
export type ViewPage = (typeof viewPages)[number];

export const viewPage = field.described(
  field.oneOf(viewPages),
  'The page of the console: `overview`, or `events` for its explorer, funnel and retention.',
  'events',
);

const queryForm = `must be the query of an address: at most ${limits.viewQueryLength} printable ASCII characters, others percent-encoded, without a question mark before it`;
export const viewQuery = field.described(
  field.text(limits.viewQueryLength).refine((text) => /^(?![?])[!-~]*$/.test(text), queryForm),
  'What the page shows, as the query of its address.',
  'tab=funnel&steps=3%2C4&range=7d',
);

export const createViewInput = z.object({
  viewName: field.viewName,
  viewPage,
  viewQuery: field.optional(viewQuery),
});
export const createViewOutput = told.answer({
  viewName: told.told(field.viewName),
  replaced: told.flag('Whether there was a view of this name, which this one replaces.', false),
});

export const listViewsInput = z.object({});
export const listViewsOutput = told.answer({
  view: z
    .array(
      z.object({
        viewName: told.told(field.viewName),
        viewPage: field.described(z.enum(viewPages), 'The page of the console.', 'events'),
        viewQuery: told.told(viewQuery),
        createdTime: told.isoTime('When the name was first saved.'),
        updatedTime: told.isoTime('When the view was last saved.'),
      }),
    )
    .describe('The views, sorted by name.'),
});

export const deleteViewInput = z.object({ viewName: field.viewName });
export const deleteViewOutput = told.answer({ viewName: told.told(field.viewName) });
