/** Decides which operations may be sent again, and when. */
import { type OperationName, operations } from '@firsthand/contract/operations';
import type { FirsthandError } from './failure.ts';
import type { Fields } from './requests.ts';

const firstPauseMs = 200;
const longestPauseMs = 10_000;

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyz';

/**
 * An eventUUID or requestUUID: the milliseconds since 1970, then 75 random bits. Newer ones sort after older ones, so that the
 * store appends to its index.
 */
export const createUUID = (time = Date.now()): string => {
  const random = crypto.getRandomValues(new Uint8Array(15));
  // Each of the 32 symbols stands for 8 of the 256 byte values, so all are equally likely.
  const symbols = Array.from(random, (byte) => alphabet[byte % 32]).join('');
  return time.toString(36).padStart(9, '0') + symbols;
};

/**
 * The request with an eventUUID on each event, or a requestUUID, by which the service recognizes a repeat and stores it once.
 * Identifiers that the caller gave stay.
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

/** Whether an operation is safe to send twice, once its request was identified. */
export const isRepeatable = (name: OperationName): boolean =>
  operations[name].methods[0] === 'GET' || name === 'logEvent' || name === 'logEvents' || name === 'createContact';

const busyStatuses: readonly number[] = [429, 502, 503, 504];

/** Whether a failure may pass if the client waits. A report that was too slow would be so again. */
export const mayPass = ({ code, status }: FirsthandError): boolean =>
  code === 'unreachable' || (code !== 'report_too_slow' && busyStatuses.includes(status));

/**
 * The milliseconds to wait before the next try; undefined if there should be none. The pause doubles with every try. Half of it is
 * random, so that clients that failed together don't return together. It is never shorter than the service's Retry-After.
 */
export const pauseBefore = (tries: number, failure: FirsthandError, chance = Math.random()): number | undefined => {
  if (!mayPass(failure)) return undefined;
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
