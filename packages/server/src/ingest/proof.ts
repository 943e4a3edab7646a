import { createHmac, timingSafeEqual } from 'node:crypto';
import { limits } from '@firsthand/contract/limits';

/** How many seconds in the future a proof's time may be, because servers' clocks differ. */
const aheadSeconds = 300;
const form = /^(\d{1,12})\.([0-9a-f]{64})$/i;

/**
 * What a proof states: this user, with this browser token, has this e-mail address (in canonical form) or external ID.
 */
interface ProofStatement {
  readonly browserToken: string;
  readonly address?: string | undefined;
  /** The external ID is proven only if there is no address. */
  readonly externalID?: string | undefined;
  readonly userUUID: string;
}

/** No part contains a line break, so the four lines for an address never equal the five lines for an external ID. */
const hmac = (key: Uint8Array, seconds: string, { browserToken, address, externalID, userUUID }: ProofStatement) =>
  createHmac('sha256', key)
    .update(
      [seconds, browserToken, ...(address === undefined ? ['externalID', externalID] : [address]), userUUID].join('\n'),
    )
    .digest();

/**
 * Whether a contactProof was created within the last 10 minutes with one of the keys. A key is the SHA-256 (raw bytes)
 * of a server token's text; `now` is in milliseconds since 1970.
 */
export const isProof = (
  proof: string,
  statement: ProofStatement,
  keys: readonly Uint8Array[],
  now: number,
): boolean => {
  const [, seconds, hex] = form.exec(proof) ?? [];
  if (seconds === undefined || hex === undefined) return false;
  const ageSeconds = now / 1_000 - Number(seconds);
  if (ageSeconds > limits.proofMinutes * 60 || ageSeconds < -aheadSeconds) return false;
  const signature = Buffer.from(hex, 'hex');
  return keys.some((key) => timingSafeEqual(hmac(key, seconds, statement), signature));
};
