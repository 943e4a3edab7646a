import { addSet } from './default-attributes.ts';
import type { Attributes, AttributesOf } from './records/attributes.ts';
import type { LoggedEvent } from './records/events.ts';
import { type LogResult, startTracker, type Tracker } from './tracker.ts';

export { logPageViews, type PageViewOptions } from './page-views.ts';
export type { Attributes, AttributeValue } from './records/attributes.ts';
export type { ContactFields, ContactResult, TrackerError } from './records/contacts.ts';
export type { LoggedEvent } from './records/events.ts';
export type { LogResult, Tracker } from './tracker.ts';

/** The attributes of a site's events, by name or eventID: `{ Bought: { plan: 'free' | 'pro' }, 7: undefined }`; `undefined` for none. */
export type EventCatalogue<Events = Record<string | number, Attributes | undefined>> = {
  readonly [Event in keyof Events]: Events[Event] extends object | undefined
    ? AttributesOf<Events[Event]> | undefined
    : undefined;
};

/** A tracker with all methods, as createTracker returns it. */
export type BundledTracker = Tracker & Required<Pick<Tracker, 'set'>>;

/** A tracker whose `log` accepts only the events of a catalogue, each with its attributes. */
export type TypedTracker<Events> = Omit<BundledTracker, 'log'> & {
  log<Event extends keyof Events & (string | number)>(
    event: Event,
    ...attrs: undefined extends Events[Event] ? [attrs?: Events[Event]] : [attrs: Events[Event]]
  ): Promise<LogResult>;
};

export type TrackerOptions = {
  /** The folder that the script is served from, or that of API_PREFIX: `https://shop.example/s`, or `/s` on the page's own host. */
  readonly url: string;
  /** A browser token. */
  readonly token: string;
  /** Whether to write to the console what was left out or refused, and why. */
  readonly debug?: boolean;
  /** Nothing is stored or sent before `consent(true)`. Earlier events are kept in memory (`required`) or dropped (`drop`). */
  readonly consent?: 'required' | 'drop';
  /** Whether Do Not Track counts like Global Privacy Control. */
  readonly dnt?: boolean;
  /** Called with each event before it is queued. It may change the event, or drop it by returning false. */
  readonly beforeSend?: (event: LoggedEvent) => unknown;
};

const ignore = (): void => {};

/** The tracker on a server, where there is no visitor: it stores and sends nothing. */
const inert: BundledTracker = {
  log: async () => ({}),
  set: ignore,
  createContact: () => new Promise(ignore),
  reset: ignore,
  consent: ignore,
  flush: async () => {},
  getUserUUID: async () => undefined,
};

type CreateTracker = {
  (options: TrackerOptions): BundledTracker;
  <Events extends EventCatalogue<Events>>(options: TrackerOptions): TypedTracker<Events>;
};

/**
 * Creates a tracker, for sites that bundle it. On a server it does nothing. It throws in a worker, which has a `location`, as no server
 * has, but no document. With a catalogue, `createTracker<{ Bought: { plan: string } }>(…)`, the compiler checks the events.
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
    if (typeof location === 'undefined') return inert;
    throw Error(
      'The tracker needs a document, which workers lack. Create it in the page, and log what the worker posts to it.',
    );
  }
  const tracker: Partial<BundledTracker> = { beforeSend };
  startTracker(tracker, new URL(url.replace(/\/?$/, '/'), location.href), {
    token,
    ...(debug && { debug: '' }),
    ...(consent && { consent }),
    ...(dnt && { dnt: '' }),
  });
  addSet(tracker as Tracker);
  return tracker as BundledTracker;
};
