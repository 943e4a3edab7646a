/**
 * A handover is a userUUID, encrypted and authenticated (AES-256-GCM, NIST SP 800-38D), in a link to another of the
 * same customer's domains. Handovers are not stored: every server on the same database can open one, because the
 * database has the server tokens' hashes.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { limits } from '@firsthand/contract/limits';

/** How many seconds in the future a handover's time may be, because servers' clocks differ. */
const aheadSeconds = 30;
const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** What a handover is bound to: the origin and target hosts, and the browser's User-Agent. */
interface HandoverContext {
  readonly from: string;
  readonly to: string;
  readonly userAgent: string;
}

/**
 * Derives a key for each context (HKDF, RFC 5869), because the server token's hash is also the key of contactProofs.
 * Separate keys keep the messages per key far below the 2³² that SP 800-38D allows with random nonces.
 */
const keyOf = (secret: Uint8Array, { from, to, userAgent }: HandoverContext): Uint8Array => {
  // Unambiguous because hosts contain no line breaks. Hashed because Node.js limits `info` to 1,024 bytes.
  const contextHash = createHash('sha256').update(`${from}\n${to}\n${userAgent}`).digest('hex');
  return new Uint8Array(hkdfSync('sha256', secret, '', `firsthand handover ${contextHash}`, 32));
};

/** Seals a userUUID with the SHA-256 (raw bytes) of a server token's text. `now` is in milliseconds since 1970. */
export const sealHandover = (userUUID: string, context: HandoverContext, secret: Uint8Array, now: number): string => {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, keyOf(secret, context), nonce);
  const sealed = Buffer.concat([cipher.update(`${Math.floor(now / 1_000)}.${userUUID}`), cipher.final()]);
  return Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64url');
};

/** Returns the sealed text; undefined if it was sealed with another key or for another context, or was modified. */
const unseal = (sealed: Buffer, context: HandoverContext, secret: Uint8Array): string | undefined => {
  const end = sealed.length - tagBytes;
  const decipher = createDecipheriv(algorithm, keyOf(secret, context), sealed.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  }).setAuthTag(sealed.subarray(end));
  try {
    return decipher.update(sealed.subarray(nonceBytes, end), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return undefined;
  }
};

/**
 * Returns a handover's userUUID; undefined unless it was sealed with one of the keys, for this context, in the last two
 * minutes.
 */
export const openHandover = (
  handover: string,
  context: HandoverContext,
  secrets: readonly Uint8Array[],
  now: number,
): string | undefined => {
  const sealed = Buffer.from(handover, 'base64url');
  if (sealed.length <= nonceBytes + tagBytes) return undefined;
  for (const secret of secrets) {
    const [seconds, userUUID] = unseal(sealed, context, secret)?.split('.') ?? [];
    if (userUUID === undefined) continue;
    const ageSeconds = now / 1_000 - Number(seconds);
    return ageSeconds <= limits.handoverSeconds && ageSeconds >= -aheadSeconds ? userUUID : undefined;
  }
  return undefined;
};
