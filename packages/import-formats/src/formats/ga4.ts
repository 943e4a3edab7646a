/**
 * GA4's export to BigQuery: rows of `events_YYYYMMDD` as JSON lines, or as Parquet.
 *
 * BigQuery writes 64-bit integers as text, and omits fields that are null.
 */
import type { Row } from '../files/record.ts';
import type { Format } from './format.ts';
import { toLabels } from './labels.ts';
import { compact, invalidField, pathOf, toRecord, toText, toTimeOfSeconds } from './values.ts';

/** Events that GA4 logs for its own use: session starts, first visits and engagement times. */
const internalEvents = new Set(['session_start', 'first_visit', 'first_open', 'user_engagement']);

/**
 * Whether GA4 adds the parameter itself, or the parameter describes the page, whose URL may have secrets in its query.
 */
const isInternal = (key: string): boolean =>
  /^(?:ga_session_|engaged_session_|session_engaged$|engagement_time_|firebase_|batch_|page_|(?:debug_mode|entrances|ignore_referrer)$)/.test(
    key,
  );

/** The traffic media that GA4 recognizes by the referrer, which the page view also has. */
const organicMedia = new Set(['organic', 'referral', '(none)', '(not set)']);

const readParameters = (list: unknown): Map<string, unknown> => {
  const parameters = new Map<string, unknown>();
  for (const entry of Array.isArray(list) ? list : []) {
    const { key, value } = toRecord(entry);
    const { string_value, int_value, float_value, double_value } = toRecord(value);
    const content = string_value ?? int_value ?? double_value ?? float_value;
    if (typeof key === 'string' && content !== undefined && content !== null) parameters.set(key, content);
  }
  return parameters;
};

/** The event's own campaign. The traffic sources of its session and user belong to earlier events. */
const campaignOf = (row: Row): Row | undefined => {
  const collected = toRecord(row.collected_traffic_source);
  const medium = toText(collected.manual_medium);
  const ads = toRecord(toRecord(row.session_traffic_source_last_click).google_ads_campaign);
  if (toText(collected.gclid) !== undefined && toText(collected.manual_campaign_name) === undefined)
    return compact({ source: 'google', medium: 'cpc', name: ads.campaign_name });
  if (medium !== undefined && organicMedia.has(medium)) return undefined;
  return compact({
    name: collected.manual_campaign_name,
    source: collected.manual_source,
    medium,
    term: collected.manual_term,
    content: collected.manual_content,
  });
};

let countryCodes: Map<string, string> | undefined;

/** Converts a country's English name, which GA4 writes, to its code. */
const toCountryCode = (name: unknown): string | undefined => {
  if (countryCodes === undefined) {
    const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
    const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
    const codes = letters.flatMap((first) => letters.map((second) => first + second));
    countryCodes = new Map(codes.map((code) => [names.of(code) ?? '', code]));
    countryCodes.delete('');
  }
  return countryCodes.get(toText(name) ?? '');
};

export const ga4: Format = {
  label: 'Google Analytics 4',
  fields: ['event_name', 'event_timestamp'],
  toMessages: (row) => {
    const event = toText(row.event_name);
    const timestamp = toTimeOfSeconds(Number(toText(row.event_timestamp) ?? Number.NaN) / 1_000_000);
    if (timestamp === undefined)
      return [invalidField('event_timestamp', row.event_timestamp, 'microseconds since 1970')];
    if (event === undefined) return [invalidField('event_name', row.event_name, 'the event name')];
    if (internalEvents.has(event)) return [{ skipped: 'not an event' }];
    const [anonymousId, userId] = [toText(row.user_pseudo_id), toText(row.user_id)];
    // The visitor has not consented to cookies.
    if (anonymousId === undefined && userId === undefined) return [{ skipped: 'no visitor' }];

    const parameters = readParameters(row.event_params);
    const own = [...parameters].filter(([key]) => !isInternal(key));
    const url = toText(parameters.get('page_location'));
    const device = toRecord(row.device);
    const labels = toLabels({
      browser: toRecord(device.web_info).browser ?? device.browser,
      os: device.operating_system,
      device: device.category,
      country: toCountryCode(toRecord(row.geo).country),
    });
    const common = compact({ timestamp, anonymousId, userId });
    if (event === 'page_view') {
      const sourceKeys = new Set([
        'source',
        'medium',
        'campaign',
        'campaign_id',
        'term',
        'content',
        'gclid',
        'srsltid',
      ]);
      const page = compact({
        url,
        path: pathOf(url),
        title: parameters.get('page_title'),
        referrer: parameters.get('page_referrer'),
      });
      const properties = compact(Object.fromEntries(own.filter(([key]) => !sourceKeys.has(key))));
      const context = compact({ page, campaign: campaignOf(row), labels });
      return [{ message: { type: 'page', ...common, properties, context } }];
    }
    if (event === 'screen_view') {
      const name = toText(parameters.get('firebase_screen')) ?? toText(parameters.get('firebase_screen_class'));
      return [
        {
          message: {
            type: 'screen',
            ...common,
            name,
            properties: compact(Object.fromEntries(own)),
            context: compact({ labels }),
          },
        },
      ];
    }
    const properties = compact({ ...Object.fromEntries(own), path: pathOf(url) });
    return [{ message: { type: 'track', ...common, event, properties, context: compact({ labels }) } }];
  },
};
