/**
 * Keyed hashes that stand for eventUUIDs and requestUUIDs which are not stored themselves. Both drivers compute the same hash,
 * so a copied database recognizes repeats of what the other driver stored.
 */
import { hash } from 'node:crypto';

/** The token number stored with a request of which only the hash is known; the hash includes the real token. */
export const tokenInKey = 0;

const blockBytes = 64;
const hashBytes = 32;
export const keyBytes = 16;

/** The size of the reused buffer. eventUUIDs and requestUUIDs are far shorter; a longer text gets a buffer of its own. */
const maxTextBytes = 512;

/**
 * The first 16 bytes of HMAC-SHA-256 (RFC 2104), as a latin1 string of 16 characters, which is fast to compare and look up.
 * Node's createHmac creates an object for each hash and takes half as long again.
 */
const createKeyOf = (secret: Buffer) => {
  const key = secret.length > blockBytes ? hash('sha256', secret, 'buffer') : secret;
  const padded = (pad: number) => Buffer.alloc(blockBytes).map((_, nth) => (key[nth] ?? 0) ^ pad);
  const inner = Buffer.concat([padded(0x36), Buffer.alloc(maxTextBytes)]);
  const outer = Buffer.concat([padded(0x5c), Buffer.alloc(hashBytes)]);
  return (text: string): string => {
    const most = text.length * 3;
    const block = most > maxTextBytes ? Buffer.concat([inner.subarray(0, blockBytes), Buffer.alloc(most)]) : inner;
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

/** Returns the bytes of a key. */
export const toBytes = (key: string): Buffer => Buffer.from(key, 'latin1');

/** The kind of token that sent an event: 1 server, 0 browser, null for an event stored before kinds were distinguished. */
export type SentByServer = 0 | 1 | null;

/**
 * Keys differ by kind of token, so that an event from a page cannot make the server's event with the same eventUUID a repeat. A
 * key without a kind is a repeat for both.
 */
const eventKeyNames = { 0: 'event of a browser', 1: 'event of a server', null: 'event' } as const;

/** A requestUUID with its token and user: others may use the same requestUUID. */
export interface SentRequest {
  readonly requestUUID: string;
  readonly token: number;
  readonly user: number;
}

/** `secret` is the key of the hashes that the database stores. */
export const createIdempotencyKeys = (secret: Buffer) => {
  const keyOf = createKeyOf(secret);
  return {
    /** Returns the key of an event. `holder` is the user; for an event without a user, minus the contact. */
    eventKey: (holder: number, eventUUID: string, server: SentByServer): string =>
      keyOf(`${eventKeyNames[`${server}`]}\n${holder}\n${eventUUID}`),
    /** Returns the key of a request, formatted as a UUID. */
    requestKey: ({ requestUUID, token }: Omit<SentRequest, 'user'>): string =>
      toUUID(keyOf(`request\n${token}\n${requestUUID}`)),
  };
};
