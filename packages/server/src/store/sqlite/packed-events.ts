/**
 * Events on their way from thread to thread: a flat list, because to copy a list of texts takes a fifth of what it takes to
 * copy the objects that they stand in, on either side.
 */
import type { EventBatch, EventOutcome, NewEvent } from '../store.ts';

export type PackedEvents = readonly (string | number | boolean | null)[];

export const packEvents = ({ account, token, browser, receivedTime, events }: EventBatch): PackedEvents => {
  const packed: (string | number | boolean | null)[] = [account, token, browser, receivedTime];
  for (const { userUUID, contactUUID, eventID, eventUUID, eventTime, timeReplaced, attributes } of events) {
    packed.push(userUUID, contactUUID, eventID, eventUUID, eventTime, timeReplaced, attributes.length);
    for (const [attrID, attrValue] of attributes) packed.push(attrID, attrValue);
  }
  return packed;
};

export const unpackEvents = (packed: PackedEvents): EventBatch => {
  let at = 0;
  const next = <Value>() => packed[at++] as Value;
  const nextAttributes = (): NewEvent['attributes'] =>
    Array.from({ length: next<number>() }, () => [next<string>(), next<string>()] as const);
  // Members come in the order in which they stand here.
  const nextEvent = (): NewEvent => ({
    userUUID: next(),
    contactUUID: next(),
    eventID: next(),
    eventUUID: next(),
    eventTime: next(),
    timeReplaced: next(),
    attributes: nextAttributes(),
  });
  const events: NewEvent[] = [];
  const batch = {
    account: next<number>(),
    token: next<number>(),
    browser: next<boolean>(),
    receivedTime: next<number>(),
  };
  while (at < packed.length) events.push(nextEvent());
  return { ...batch, events };
};

const kept = { kept: true } as const;
const repeated = { kept: false, duplicate: true } as const;

/** An outcome as one word, but for a refusal. */
export type PackedOutcome = 'kept' | 'repeated' | EventOutcome;

export const packOutcome = (outcome: EventOutcome): PackedOutcome =>
  outcome.kept ? 'kept' : 'duplicate' in outcome ? 'repeated' : outcome;

export const unpackOutcome = (packed: PackedOutcome): EventOutcome =>
  packed === 'kept' ? kept : packed === 'repeated' ? repeated : packed;
