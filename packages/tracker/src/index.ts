import { startTracker, type Tracker, type TrackerOptions } from './tracker.ts';

export type { Attributes, AttributeValue } from './attributes.ts';
export type { ContactFields, ContactResult, TrackerError } from './contacts.ts';
export type { Tracker, TrackerOptions } from './tracker.ts';

/** On a server there is no visitor: nothing is kept, nothing sent. */
const inert: Tracker = { log: () => {}, createContact: () => new Promise(() => {}), reset: () => {} };

/** A tracker for those who bundle it. On a server, where there is no document, it does nothing. */
export const createTracker = ({ url, token, debug }: TrackerOptions): Tracker =>
  typeof document === 'undefined' ? inert : startTracker(url.replace(/\/?$/, '/'), token, debug);
