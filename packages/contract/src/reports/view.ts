/** Saved views: named pages of reports in the console. */
import * as z from 'zod';
import * as field from '../fields.ts';
import { limits } from '../limits.ts';
import * as output from '../response.ts';

export const viewPages = ['overview', 'events'] as const;
export type ViewPage = (typeof viewPages)[number];

export const viewPage = field.describe(
  field.oneOf(viewPages),
  'The page of the console: `overview`, or `events` for its explorer, funnel and retention.',
  'events',
);

const queryForm = `must be a query string of at most ${limits.viewQueryLength} printable ASCII characters, with others percent-encoded and without a leading question mark`;
export const viewQuery = field.describe(
  field.text(limits.viewQueryLength).refine((text) => /^(?![?])[!-~]*$/.test(text), queryForm),
  'What the page shows, as the query string in its URL.',
  'tab=funnel&steps=3%2C4&range=7d',
);

export const createViewInput = z.object({
  viewName: field.viewName,
  viewPage,
  viewQuery: field.optional(viewQuery),
});
export const createViewOutput = output.response({
  viewName: output.responseText(field.viewName),
  replaced: output.flag('Whether a view with this name existed and was replaced.', false),
});

export const listViewsInput = z.object({});
export const listViewsOutput = output.response({
  view: z
    .array(
      z.object({
        viewName: output.responseText(field.viewName),
        viewPage: field.describe(z.enum(viewPages), 'The page in the console.', 'events'),
        viewQuery: output.responseText(viewQuery),
        createdTime: output.isoTime('When the name was first saved.'),
        updatedTime: output.isoTime('When the view was last saved.'),
      }),
    )
    .describe('The views, sorted by name.'),
});

export const deleteViewInput = z.object({ viewName: field.viewName });
export const deleteViewOutput = output.response({ viewName: output.responseText(field.viewName) });
