import { addSetMethod } from './default-attributes.ts';
import type { Attributes, AttributesOf } from './records/attributes.ts';
import type { LoggedEvent } from './records/events.ts';
import { type LogResult, startTracker, type Tracker } from './tracker.ts';

export { logPageViews, type PageViewOptions } from './page-views.ts';
export type { Attributes, AttributeValue } from './records/attributes.ts';
export type { ContactFields, ContactResult, TrackerError } from './records/contacts.ts';
export type { LoggedEvent } from './records/events.ts';
export type { LogResult, Tracker } from './tracker.ts';

/**
 * The attributes of a site's events, by name or eventID: `{ Bought: { plan: 'free' | 'pro' }, 7: undefined }`.
 * `undefined` means that the event has no attributes.
 */
export type EventCatalogue<Events = Record<string | number, Attributes | undefined>> = {
  readonly [Event in keyof Events]: Events[Event] extends object | undefined
    ? AttributesOf<Events[Event]> | undefined
    : undefined;
};

/** A tracker with all methods, as returned by createTracker. */
export type BundledTracker = Tracker & Required<Pick<Tracker, 'set'>>;

/** A tracker whose `log` accepts only the events in a catalogue, each with its attributes. */
export type TypedTracker<Events> = Omit<BundledTracker, 'log'> & {
  log<Event extends keyof Events & (string | number)>(
    event: Event,
    ...attrs: undefined extends Events[Event] ? [attrs?: Events[Event]] : [attrs: Events[Event]]
  ): Promise<LogResult>;
};

export type TrackerOptions = {
  /**
   * The URL of the folder that serves the script, or of API_PREFIX: `https://shop.example/s`, or `/s` on the page's own
   * host.
   */
  readonly url: string;
  /** A browser token. */
  readonly token: string;
  /** Whether to repeat each console warning, instead of showing it once per page. */
  readonly debug?: boolean;
  /**
   * Nothing is stored or sent before `consent(true)`. Earlier events are kept in memory (`required`) or dropped
   * (`drop`).
   */
  readonly consent?: 'required' | 'drop';
  /** Whether Do Not Track is treated like Global Privacy Control. */
  readonly dnt?: boolean;
  /** Called with each event before it is queued. It may change the event, or drop it by returning false. */
  readonly beforeSend?: (event: LoggedEvent) => unknown;
};

const doNothing = (): void => {};

/** The tracker on a server, where there is no visitor: it stores and sends nothing. */
const inertTracker: BundledTracker = {
  log: async () => ({}),
  set: doNothing,
  createContact: () => new Promise(doNothing),
  reset: doNothing,
  consent: doNothing,
  flush: async () => {},
  getUserUUID: async () => undefined,
};

type CreateTracker = {
  (options: TrackerOptions): BundledTracker;
  <Events extends EventCatalogue<Events>>(options: TrackerOptions): TypedTracker<Events>;
};

/**
 * Creates a tracker for a site that bundles it. With a catalogue, `createTracker<{ Bought: { plan: string } }>(…)`, the
 * compiler checks the events.
 *
 * On a server it does nothing. In a worker, which has a `location` but no document, it throws.
 */
export const createTracker: CreateTracker = ({
  url,
  token,
  debug,
  consent,
  dnt,
  beforeSend,
}: TrackerOptions): BundledTracker => {
  if (typeof document === 'undefined') {
    if (typeof location === 'undefined') return inertTracker;
    throw Error(
      'The tracker needs a document, and workers have none. Create the tracker in the page, and log what the worker posts.',
    );
  }
  const tracker: Partial<BundledTracker> = { beforeSend };
  startTracker(tracker, new URL(url.replace(/\/?$/, '/'), location.href), {
    token,
    ...(debug && { debug: '' }),
    ...(consent && { consent }),
    ...(dnt && { dnt: '' }),
  });
  addSetMethod(tracker as Tracker);
  return tracker as BundledTracker;
};
