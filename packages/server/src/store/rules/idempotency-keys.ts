/**
 * Keyed hashes that are stored in place of eventUUIDs and requestUUIDs. Both drivers compute the same hash, so that a
 * copied database recognizes repeats.
 */
import { hash } from 'node:crypto';

/**
 * Stored in place of a request's token number if only the request's hash is known. The hash includes the real token
 * number.
 */
export const tokenInKey = 0;

const blockBytes = 64;
const hashBytes = 32;
export const keyBytes = 16;

/** The size of the reused buffer. eventUUIDs and requestUUIDs are far shorter; a longer string gets its own buffer. */
const maxTextBytes = 512;

/**
 * Computes the first 16 bytes of HMAC-SHA-256 (RFC 2104) as a latin1 string, which is fast to compare and look up.
 * Node's createHmac allocates an object per hash and takes 1.5 times as long.
 */
const createHasher = (secret: Buffer) => {
  const key = secret.length > blockBytes ? hash('sha256', secret, 'buffer') : secret;
  const padded = (pad: number) => Buffer.alloc(blockBytes).map((_, nth) => (key[nth] ?? 0) ^ pad);
  const inner = Buffer.concat([padded(0x36), Buffer.alloc(maxTextBytes)]);
  const outer = Buffer.concat([padded(0x5c), Buffer.alloc(hashBytes)]);
  return (text: string): string => {
    const maxLength = text.length * 3;
    const block =
      maxLength > maxTextBytes ? Buffer.concat([inner.subarray(0, blockBytes), Buffer.alloc(maxLength)]) : inner;
    const length = block.write(text, blockBytes, 'utf8');
    outer.write(hash('sha256', block.subarray(0, blockBytes + length), 'binary'), blockBytes, 'binary');
    return hash('sha256', outer, 'binary').slice(0, keyBytes);
  };
};

/** Formats a key as a UUID, as PostgreSQL writes it. */
export const toUUID = (key: string): string =>
  toBytes(key)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

export const toBytes = (key: string): Buffer => Buffer.from(key, 'latin1');

/** The kind of token that sent an event: 1 server, 0 browser, null: stored before kinds were distinguished. */
export type SentByServer = 0 | 1 | null;

/**
 * Keys depend on the token kind, so that an event from a page cannot make the server's event with the same eventUUID
 * count as a repeat. A key without a kind matches both.
 */
const eventKeyNames = { 0: 'event of a browser', 1: 'event of a server', null: 'event' } as const;

/** The user of a request without a userUUID. */
export const noUser = 0;

/** A requestUUID is unique per token and user. */
export interface SentRequest {
  readonly requestUUID: string;
  readonly token: number;
  readonly user: number;
}

/** `secret` is the database's HMAC key. */
export const createIdempotencyKeys = (secret: Buffer) => {
  const keyOf = createHasher(secret);
  return {
    /** Returns an event's key. `holder` is the user or, for an event without a user, the negated contact. */
    eventKey: (holder: number, eventUUID: string, server: SentByServer): string =>
      keyOf(`${eventKeyNames[`${server}`]}\n${holder}\n${eventUUID}`),
    /** Returns a request's key, formatted as a UUID. */
    requestKey: ({ requestUUID, token }: Omit<SentRequest, 'user'>): string =>
      toUUID(keyOf(`request\n${token}\n${requestUUID}`)),
  };
};
