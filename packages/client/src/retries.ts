/** Decides which operations are retried, and when. */
import { type OperationName, operations } from '@firsthand/contract/operations';
import type { FirsthandError } from './failure.ts';
import type { Fields } from './requests.ts';

const firstDelayMs = 200;
const maxDelayMs = 10_000;

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyz';

/**
 * Creates an eventUUID or requestUUID: milliseconds since 1970, then 75 random bits. UUIDs sort by time, so the store
 * only appends to its index.
 */
export const createUUID = (time = Date.now()): string => {
  const random = crypto.getRandomValues(new Uint8Array(15));
  // Each of the 32 symbols represents 8 of the 256 byte values, so all are equally likely.
  const symbols = Array.from(random, (byte) => alphabet[byte % 32]).join('');
  return time.toString(36).padStart(9, '0') + symbols;
};

/**
 * Adds an eventUUID to each event, or a requestUUID, so that the service recognizes duplicates. Existing identifiers
 * are kept.
 */
export const addIdentifiers = (name: OperationName, fields: Fields): Fields => {
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

const repeatableWrites: readonly OperationName[] = [
  ...(['logEvent', 'logEvents', 'createContact'] as const),
  // A file is recognized by its fingerprint, and a batch by its position.
  ...(['createImport', 'importEvents', 'importContacts', 'undoImport'] as const),
];

/** Whether an operation is safe to send twice, with the UUIDs from `addIdentifiers`. */
export const isRepeatable = (name: OperationName): boolean =>
  operations[name].methods[0] === 'GET' || repeatableWrites.includes(name);

const busyStatuses: readonly number[] = [429, 502, 503, 504];

/** Whether a failure is worth retrying. A report that was too slow would be too slow again. */
export const isTransient = ({ code, status }: FirsthandError): boolean =>
  code === 'unreachable' || (code !== 'report_too_slow' && busyStatuses.includes(status));

/**
 * The milliseconds to wait before the next attempt; undefined if there should be no further attempt. The delay doubles
 * each time, is never shorter than Retry-After, and is half random, so that clients that failed together don't retry
 * together.
 */
export const computeRetryDelay = (
  attempt: number,
  failure: FirsthandError,
  random = Math.random(),
): number | undefined => {
  if (!isTransient(failure)) return undefined;
  const retryAfterMs = (failure.retryAfterSeconds ?? 0) * 1000;
  if (retryAfterMs > maxDelayMs) return undefined;
  const delay = Math.min(maxDelayMs, firstDelayMs * 2 ** (attempt - 1));
  return retryAfterMs + delay * (retryAfterMs > 0 ? random / 2 : (1 + random) / 2);
};

/** Resolves after `ms`; rejects with the signal's reason on abort. */
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
