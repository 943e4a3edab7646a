/**
 * What an eventUUID or a requestUUID is known by where it does not stand itself: a keyed hash, the same in both drivers, so
 * that what one has kept the other knows again.
 */
import { hash } from 'node:crypto';

/** What stands in place of a request's token where only its key is known, which is of both. */
export const tokenInKey = 0;

const blockBytes = 64;
const hashBytes = 32;
export const keyBytes = 16;

/** A text for which room is kept: eventUUIDs and requestUUIDs are far shorter. A longer one gets room of its own. */
const mostTextBytes = 512;

/**
 * HMAC-SHA-256 (RFC 2104), of which the first 16 bytes are kept: as a text of as many characters (latin1), which is fast to
 * compare and to look up. Node's createHmac makes an object for each, which takes half as long again.
 */
const createKeyOf = (secret: Buffer) => {
  const key = secret.length > blockBytes ? hash('sha256', secret, 'buffer') : secret;
  const padded = (pad: number) => Buffer.alloc(blockBytes).map((_, nth) => (key[nth] ?? 0) ^ pad);
  const inner = Buffer.concat([padded(0x36), Buffer.alloc(mostTextBytes)]);
  const outer = Buffer.concat([padded(0x5c), Buffer.alloc(hashBytes)]);
  return (text: string): string => {
    const most = text.length * 3;
    const block = most > mostTextBytes ? Buffer.concat([inner.subarray(0, blockBytes), Buffer.alloc(most)]) : inner;
    const length = block.write(text, blockBytes, 'utf8');
    outer.write(hash('sha256', block.subarray(0, blockBytes + length), 'binary'), blockBytes, 'binary');
    return hash('sha256', outer, 'binary').slice(0, keyBytes);
  };
};

/** A key as PostgreSQL writes a UUID. */
export const toUUID = (key: string): string =>
  toBytes(key)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/** The bytes of a key. */
export const toBytes = (key: string): Buffer => Buffer.from(key, 'latin1');

/** The kind of token that sent an event: 1 a server token, 0 a browser token, null when kept before kinds were told apart. */
export type SentByServer = 0 | 1 | null;

/** A page must not shadow an event of the server, so each kind has keys of its own. A key without a kind is a repeat for both. */
const eventKeyNames = { 0: 'event of a browser', 1: 'event of a server', null: 'event' } as const;

/** `secret` is the database's. */
export const createSentKeys = (secret: Buffer) => {
  const keyOf = createKeyOf(secret);
  return {
    /** `holder`: minus the contact, for an event without a user; else the user. */
    eventKey: (holder: number, eventUUID: string, server: SentByServer): string =>
      keyOf(`${eventKeyNames[`${server}`]}\n${holder}\n${eventUUID}`),
    /** As a UUID. */
    requestKey: ({ requestUUID, token }: { readonly requestUUID: string; readonly token: number }): string =>
      toUUID(keyOf(`request\n${token}\n${requestUUID}`)),
  };
};
