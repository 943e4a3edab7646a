import type { Attributes } from './attributes.ts';
import type { LoggedEvent } from './events.ts';
import { startTracker, type Tracker } from './tracker.ts';

export type { Attributes, AttributeValue } from './attributes.ts';
export type { ContactFields, ContactResult, TrackerError } from './contacts.ts';
export type { LoggedEvent } from './events.ts';
export type { Tracker } from './tracker.ts';

/** The attributes of a site's events, by eventID: `{ 7: { plan: 'free' | 'pro' } }`; `undefined` for none. */
export type EventCatalogue = { readonly [eventID: number]: Attributes | undefined };

/** A tracker that knows which events there are, and what goes with each. */
export type TypedTracker<Events extends EventCatalogue> = Omit<Tracker, 'log'> & {
  log<ID extends keyof Events & number>(
    eventID: ID,
    ...attrs: undefined extends Events[ID] ? [attrs?: Events[ID]] : [attrs: Events[ID]]
  ): void;
};

export type TrackerOptions = {
  /** The service's REST root: where `tracker.js` lies. */
  readonly url: string;
  /** A browser token. */
  readonly token: string;
  /** Says in the console what was left out or refused, and why. */
  readonly debug?: boolean;
  /** Nothing is stored or sent before `consent(true)`; what is logged before is kept in memory, or dropped. */
  readonly consent?: 'required' | 'drop';
  /** Do Not Track counts as Global Privacy Control does. */
  readonly dnt?: boolean;
  /** May change an event before it is kept, or drop it by answering false. */
  readonly beforeSend?: (event: LoggedEvent) => unknown;
};

/** On a server there is no visitor: nothing is kept, nothing sent. */
const inert: Tracker = {
  log: () => {},
  createContact: () => new Promise(() => {}),
  reset: () => {},
  consent: () => {},
  flush: async () => {},
};

/**
 * A tracker for those who bundle it. On a server, where there is no document, it does nothing. With a catalogue,
 * `createTracker<{ 7: { plan: string } }>(…)`, the compiler checks what is logged.
 */
export const createTracker = <Events extends EventCatalogue = { readonly [eventID: number]: Attributes | undefined }>({
  url,
  token,
  debug,
  consent,
  dnt,
  beforeSend,
}: TrackerOptions): TypedTracker<Events> =>
  (typeof document === 'undefined'
    ? inert
    : startTracker({ beforeSend }, url.replace(/\/?$/, '/'), {
        token,
        ...(debug && { debug: '' }),
        ...(consent && { consent }),
        ...(dnt && { dnt: '' }),
      })) as TypedTracker<Events>;
