/**
 * PostHog's batch export of events as JSON lines or Parquet, and the CSV of its SQL editor. Properties are an object,
 * or its JSON as text.
 *
 * | event | message |
 * |---|---|
 * | `$pageview`, `$screen` | page, screen |
 * | `$identify`, `$set` | identify, with the person's properties | | `$create_alias` | alias | | `$pageleave` and
 * others about performance, feature flags and groups | none | | others, including `$autocapture` | track, with the same
 * name |
 */
import type { Row } from '../files/record.ts';
import type { Format, Message } from './format.ts';
import { toLabels } from './labels.ts';
import { aTime, compact, invalidField, toRecord, toText, toTime } from './values.ts';

/** Events that PostHog logs for its own use. */
const internalEvents = new Set([
  ...['$pageleave', '$feature_flag_called', '$groupidentify', '$heatmap', '$$heatmap', '$merge_dangerously'],
  ...['$opt_in', '$performance_event', '$snapshot', '$web_vitals'],
]);

const parseProperties = (value: unknown): Row | undefined => {
  if (value === undefined || value === null || value === '') return {};
  let parsed = value;
  try {
    if (typeof value === 'string') parsed = JSON.parse(value);
  } catch {
    return undefined;
  }
  return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? (parsed as Row) : undefined;
};

/**
 * Whether a property is not one of PostHog's own, whose names begin with $. Campaign properties are also excluded,
 * because they may come from an earlier page; the current page has them in its URL.
 */
const isOwn = (name: string): boolean =>
  !name.startsWith('$') && !/^(?:utm_\w+|gclid|fbclid|msclkid|token|distinct_id|title)$/.test(name);

const ownProperties = (properties: Row): Row | undefined =>
  compact(Object.fromEntries(Object.entries(properties).filter(([name]) => isOwn(name))));

/** The browser and the person. An event without `$device_id` comes from a server, whose events identify the person. */
const identify = (id: string, { $device_id, $is_identified, $process_person_profile }: Row) => {
  const device = toText($device_id);
  const isAnonymous = id === device || $is_identified === false || $process_person_profile === false;
  return isAnonymous ? { anonymousId: id } : { anonymousId: device, userId: id };
};

const traitsOf = (person: Row, { $set, $set_once }: Row): Row | undefined => {
  const traits = { ...person, ...toRecord($set_once), ...toRecord($set) };
  return compact(Object.fromEntries(Object.entries(traits).filter(([name]) => !name.startsWith('$'))));
};

const toMessage = (event: string, id: string, properties: Row, person: Row): Message | undefined => {
  const identity = identify(id, properties);
  const path = toText(properties.$pathname);
  switch (event) {
    case '$pageview': {
      const referrer = properties.$referrer === '$direct' ? undefined : properties.$referrer;
      const page = compact({ url: properties.$current_url, path, title: properties.title, referrer });
      return { type: 'page', ...identity, properties: ownProperties(properties), context: { page } };
    }
    case '$screen':
      return { type: 'screen', ...identity, name: properties.$screen_name, properties: ownProperties(properties) };
    case '$identify': {
      const anonymousId = toText(properties.$anon_distinct_id) ?? identity.anonymousId;
      return { type: 'identify', anonymousId, userId: id, traits: traitsOf(person, properties) };
    }
    case '$set':
      return { type: 'identify', ...identity, traits: traitsOf(person, properties) };
    case '$create_alias':
      return toText(properties.alias) ? { type: 'alias', previousId: properties.alias, userId: id } : undefined;
    default: {
      if (internalEvents.has(event)) return undefined;
      const element = event === '$autocapture' ? { type: properties.$event_type, text: properties.$el_text } : {};
      const own = compact({ ...ownProperties(properties), ...element, path });
      return { type: 'track', ...identity, event, properties: own };
    }
  }
};

export const posthog: Format = {
  label: 'PostHog',
  fields: ['event', 'distinct_id', 'timestamp'],
  toMessages: (row) => {
    const timestamp = toTime(row.timestamp);
    if (timestamp === undefined) return [invalidField('timestamp', row.timestamp, aTime)];
    const [event, id] = [toText(row.event), toText(row.distinct_id)];
    if (event === undefined) return [invalidField('event', row.event, 'the event name')];
    if (id === undefined) return [invalidField('distinct_id', row.distinct_id, "the person's ID")];
    const properties = parseProperties(row.properties);
    if (properties === undefined) return [invalidField('properties', row.properties, 'a JSON object')];
    const person = parseProperties(row.person_properties);
    if (person === undefined) return [invalidField('person_properties', row.person_properties, 'a JSON object')];
    const message = toMessage(event, id, properties, person);
    if (message === undefined) return [{ skipped: 'not an event' }];
    const labels = toLabels({
      browser: properties.$browser,
      os: properties.$os,
      device: properties.$device_type,
      country: properties.$geoip_country_code,
    });
    const userAgent = toText(properties.$raw_user_agent) ?? toText(properties.$user_agent);
    const context = compact({ ...toRecord(message.context), userAgent, labels });
    return [{ message: { ...compact({ messageId: toText(row.uuid), timestamp, ...message, context }) } }];
  },
};
