/**
 * GoatCounter's CSV export of page views, version 2: the header begins with the version.
 *
 * A session is what GoatCounter counts as a visitor: one browser until it has been inactive for a few hours.
 */
import type { Format } from './format.ts';
import { toLabels } from './labels.ts';
import { aTime, compact, invalidField, toText, toTime } from './values.ts';

const isYes = (value: unknown): boolean => value === '1' || value === 'true';

/** A session without an ID is written as zeros. */
const noSession = /^[0-]*$/;

/** A name without the version after it: `Chrome 86`, `macOS 10.15`. */
const withoutVersion = (value: unknown): string | undefined => toText(value)?.replace(/ [\d.]+$/, '');

export const goatcounter: Format = {
  label: 'GoatCounter',
  fields: ['2Path', 'Event', 'Session', 'Bot', 'Date'],
  toMessages: (row) => {
    const timestamp = toTime(row.Date);
    if (timestamp === undefined) return [invalidField('Date', row.Date, aTime)];
    if (row.Bot !== '0' && row.Bot !== '') return [{ skipped: 'robot' }];
    const anonymousId = toText(row.Session);
    if (anonymousId === undefined || noSession.test(anonymousId)) return [{ skipped: 'no visitor' }];
    const [path = '', search] = String(row['2Path'] ?? '').split(/(?=\?)/);
    const [referrer, scheme] = [toText(row.Referrer), row['Referrer scheme']];
    const context = {
      userAgent: toText(row.UserAgent),
      labels: toLabels({
        browser: withoutVersion(row.Browser),
        os: withoutVersion(row.System),
        country: toText(row.Location)?.split('-')[0],
      }),
    };
    const common = { timestamp, anonymousId };
    if (isYes(row.Event)) {
      if (path === '') return [invalidField('2Path', path, 'the event name')];
      return [{ message: { type: 'track', ...common, event: path, context: compact(context) } }];
    }
    const page = compact({
      path,
      search,
      title: row.Title,
      referrer: referrer && scheme === 'h' ? `https://${referrer}` : undefined,
    });
    // The name of a campaign, or of a site such as "Hacker News" that GoatCounter has recognized.
    const campaign = scheme === 'c' || scheme === 'g' ? compact({ source: referrer }) : undefined;
    return [{ message: { type: 'page', ...common, context: compact({ page, campaign, ...context }) } }];
  },
};
