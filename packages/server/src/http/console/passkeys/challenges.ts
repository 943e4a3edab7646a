/**
 * Challenges are random bytes for a passkey to sign, with an expiry, sealed for one purpose and one browser (HMAC, RFC
 * 2104). An issued challenge is not stored, so strangers can't fill a table. Any server with the same database can open
 * a challenge, and the store records its use.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { nanoid } from 'nanoid';
import { noChallenge } from '../../../store/rules/accounts/passkeys.ts';
import type { Challenge, Store } from '../../../store/store.ts';
import { cookieOf, cookiesIn } from '../cookie.ts';
import type { RelyingParty } from './relying-party.ts';

const validSeconds = 5 * 60;
const timeBytes = 6;
const headBytes = timeBytes + 16;
const form = /^[\w-]{72}$/;

/** The cookie that identifies the requesting browser. */
const cookieFor = ({ origin }: RelyingParty) => cookieOf(new URL(origin), '-passkey');
const browserForm = /^[\w-]{24}$/;

/** Returns the browser ID in the request's cookie. */
const browserIn = (headers: Headers, party: RelyingParty): string | undefined => {
  const { name } = cookieFor(party);
  const value = cookiesIn(headers).find(([each]) => each === name)?.[1] ?? '';
  return browserForm.test(value) ? value : undefined;
};

interface Dependencies {
  readonly store: Pick<Store, 'getDatabaseKey'>;
  readonly now: () => number;
}

export const createChallenges = ({ store, now }: Dependencies) => {
  const tagOf = async (head: Uint8Array, purpose: string, browser: string): Promise<Buffer> =>
    createHmac('sha256', await store.getDatabaseKey())
      .update(head)
      .update(`${browser}\n${purpose}`)
      .digest();

  return {
    /**
     * Creates a challenge, and the cookie that the browser must send with its response. An existing cookie's value is
     * reused, because another tab might be about to respond.
     */
    async issue(
      headers: Headers,
      party: RelyingParty,
      purpose: string,
    ): Promise<{ bytes: Uint8Array<ArrayBuffer>; cookie: string }> {
      const head = Buffer.concat([Buffer.alloc(timeBytes), randomBytes(headBytes - timeBytes)]);
      head.writeUIntBE(now() + validSeconds * 1_000, 0, timeBytes);
      const browser = browserIn(headers, party) ?? nanoid(24);
      const bytes = new Uint8Array([...head, ...(await tagOf(head, purpose, browser))]);
      return { bytes, cookie: cookieFor(party).header(browser, validSeconds) };
    },

    /**
     * Returns the challenge with this text. Throws a Refusal unless it was issued to this browser for this purpose and
     * is valid.
     */
    async open(headers: Headers, party: RelyingParty, purpose: string, challenge: string): Promise<Challenge> {
      const browser = browserIn(headers, party);
      if (!form.test(challenge) || browser === undefined) throw noChallenge();
      const bytes = Buffer.from(challenge, 'base64url');
      const head = bytes.subarray(0, headBytes);
      if (!timingSafeEqual(bytes.subarray(headBytes), await tagOf(head, purpose, browser))) throw noChallenge();
      const expiresTime = head.readUIntBE(0, timeBytes);
      const remaining = expiresTime - now();
      // Rejects an expiry too far in the future, set by a wrong clock: the store would have to record the use until
      // then.
      if (remaining <= 0 || remaining > validSeconds * 1_000) throw noChallenge();
      return { challenge, expiresTime };
    },
  };
};
