/**
 * Umami's `website_event.csv`, from an export of Umami Cloud or from `COPY website_event TO … WITH CSV HEADER`.
 *
 * A session is what Umami counts as a visitor: one browser in one month. Event properties are in a separate file.
 */
import type { Row } from '../files/record.ts';
import type { Format } from './format.ts';
import { toLabels } from './labels.ts';
import { aTime, compact, invalidField, toText, toTime } from './values.ts';

/** The name for a row without `event_name`, by `event_type`. */
const names = new Map([
  ['2', 'Event'],
  ['3', 'Link opened'],
  ['4', 'Pixel loaded'],
]);

const pageView = '1';
const performance = '5';

/** A cell without the apostrophe that Umami puts before text that a spreadsheet would read as a formula. */
const toCell = (value: unknown): string | undefined => {
  const text = toText(value);
  // PostgreSQL and ClickHouse write \N for null.
  return text === '\\N' ? undefined : text?.replace(/^'(?=[=+\-@\t\r])/, '');
};

const toAddress = (host: string | undefined, path = '/', query?: string): string | undefined =>
  host && `https://${host}${path}${query ? `?${query.replace(/^\?/, '')}` : ''}`;

const campaignOf = (cell: (name: string) => string | undefined): Row | undefined =>
  compact({
    name: cell('utm_campaign'),
    source: cell('utm_source'),
    medium: cell('utm_medium'),
    term: cell('utm_term'),
    content: cell('utm_content'),
  });

export const umami: Format = {
  label: 'Umami',
  fields: ['session_id', 'url_path', 'event_type', 'created_at'],
  toMessages: (row) => {
    const cell = (name: string) => toCell(row[name]);
    const timestamp = toTime(row.created_at);
    if (timestamp === undefined) return [invalidField('created_at', row.created_at, aTime)];
    const type = cell('event_type');
    if (type === performance) return [{ skipped: 'not an event' }];
    const [path, query] = [cell('url_path'), cell('url_query')];
    const common = {
      messageId: cell('event_id'),
      timestamp,
      anonymousId: cell('session_id'),
      userId: cell('distinct_id'),
    };
    const labels = toLabels({
      browser: cell('browser'),
      os: cell('os'),
      device: cell('device'),
      country: cell('country'),
    });
    if (type === pageView) {
      const page = compact({
        path,
        search: query && `?${query.replace(/^\?/, '')}`,
        url: toAddress(cell('hostname'), path, query),
        title: cell('page_title'),
        referrer: toAddress(cell('referrer_domain'), cell('referrer_path'), cell('referrer_query')),
      });
      const campaign = campaignOf(cell);
      return [{ message: { type: 'page', ...compact(common), context: compact({ page, campaign, labels }) } }];
    }
    const event = cell('event_name') ?? names.get(type ?? '');
    if (event === undefined) return [invalidField('event_type', row.event_type, 'a number from 1 to 5')];
    const properties = compact({ path, tag: cell('tag') });
    return [{ message: { type: 'track', ...compact(common), event, properties, context: compact({ labels }) } }];
  },
};
