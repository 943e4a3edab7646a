/**
 * What an eventUUID or a requestUUID is known by where it does not stand itself: a keyed hash, the same in both drivers, so
 * that what one has kept the other knows again.
 */
import { createHmac } from 'node:crypto';

/** What stands in place of a request's token where only its key is known, which is of both. */
export const tokenInKey = 0;

/** 16 bytes. `secret` is the database's. */
export const createSentHash =
  (secret: Buffer) =>
  (...parts: readonly (string | number)[]): Buffer =>
    createHmac('sha256', secret).update(parts.join('\n')).digest().subarray(0, 16);

/** The same as text, as PostgreSQL writes a UUID. */
export const createSentKeys = (secret: Buffer) => {
  const hashOf = createSentHash(secret);
  const keyOf = (...parts: readonly (string | number)[]): string => {
    const hex = hashOf(...parts).toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  };
  return {
    /** `holder`: minus the contact, for an event without a user; else the user. */
    eventKey: (holder: number, eventUUID: string): string => keyOf('event', holder, eventUUID),
    requestKey: ({ requestUUID, token }: { readonly requestUUID: string; readonly token: number }): string =>
      keyOf('request', token, requestUUID),
  };
};

/** The bytes of a key. */
export const toBytes = (key: string): Buffer => Buffer.from(key.replaceAll('-', ''), 'hex');
