/** Which operations may be sent again, and when. */
import { type OperationName, operations } from '@firsthand/contract';
import type { FirsthandError } from './failure.ts';
import type { Fields } from './requests.ts';
import { createUUID } from './uuid.ts';

const mostTries = 5;
const firstPauseMs = 200;
const longestPauseMs = 10_000;

/**
 * The request with an identifier on whatever it makes, so that sending it again is harmless: the service answers
 * a repeat and keeps it once. Identifiers that the caller gave stay.
 */
export const identify = (name: OperationName, fields: Fields): Fields => {
  if (name === 'logEvent') return { ...fields, eventUUID: fields.eventUUID || createUUID() };
  if (name === 'createContact') return { ...fields, requestUUID: fields.requestUUID || createUUID() };
  if (name === 'logEvents' && Array.isArray(fields.event)) {
    return {
      ...fields,
      event: fields.event.map((event) => ({ ...event, eventUUID: event?.eventUUID || createUUID() })),
    };
  }
  return fields;
};

/** Once identified: is it harmless to carry out twice? */
export const isRepeatable = (name: OperationName): boolean =>
  operations[name].methods[0] === 'GET' || name === 'logEvent' || name === 'logEvents' || name === 'createContact';

/** Is it a failure that waiting can help? */
export const mayPass = ({ code, status }: FirsthandError): boolean =>
  code === 'unreachable' || status === 429 || status === 502 || status === 503 || status === 504;

/**
 * How long to wait before the next try; undefined when there should be none. Doubles with every try, half of it
 * by chance, so that clients that failed together don't come back together; never sooner than the service asked for.
 */
export const pauseBefore = (tries: number, failure: FirsthandError, chance = Math.random()): number | undefined => {
  if (tries >= mostTries || !mayPass(failure)) return undefined;
  const asked = (failure.retryAfterSeconds ?? 0) * 1000;
  if (asked > longestPauseMs) return undefined;
  const pause = Math.min(longestPauseMs, firstPauseMs * 2 ** (tries - 1));
  return asked + pause * (asked > 0 ? chance / 2 : (1 + chance) / 2);
};

/** Resolves after `ms`; rejects with the signal's reason as soon as it is aborted. */
export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
