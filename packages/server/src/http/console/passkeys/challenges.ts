/**
 * Challenges: random bytes that a passkey signs, with the time when they expire, sealed for one purpose and one browser (HMAC, RFC 2104).
 * Nothing is stored when one is made, so that strangers fill no table. Every server of the database can open it, and the store remembers
 * that it was answered.
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

/** The cookie that says which browser asked. */
const cookieFor = ({ origin }: RelyingParty) => cookieOf(new URL(origin), '-passkey');
const browserForm = /^[\w-]{24}$/;

/** The browser that the cookie of a request names. */
const browserIn = (headers: Headers, party: RelyingParty): string | undefined => {
  const { name } = cookieFor(party);
  const value = cookiesIn(headers).find(([each]) => each === name)?.[1] ?? '';
  return browserForm.test(value) ? value : undefined;
};

interface Surroundings {
  readonly store: Pick<Store, 'getChallengeKey'>;
  readonly now: () => number;
}

export const createChallenges = ({ store, now }: Surroundings) => {
  const tagOf = async (head: Uint8Array, purpose: string, browser: string): Promise<Buffer> =>
    createHmac('sha256', await store.getChallengeKey())
      .update(head)
      .update(`${browser}\n${purpose}`)
      .digest();

  return {
    /**
     * Makes a challenge, and the cookie that the browser has to send with the answer. Keeps the value of a cookie that the browser has:
     * another of its tabs may be about to answer.
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

    /** Returns the challenge with this text. Throws a Refusal unless this browser was given it for this purpose, and it is valid. */
    async open(headers: Headers, party: RelyingParty, purpose: string, challenge: string): Promise<Challenge> {
      const browser = browserIn(headers, party);
      if (!form.test(challenge) || browser === undefined) throw noChallenge();
      const bytes = Buffer.from(challenge, 'base64url');
      const head = bytes.subarray(0, headBytes);
      if (!timingSafeEqual(bytes.subarray(headBytes), await tagOf(head, purpose, browser))) throw noChallenge();
      const expiresTime = head.readUIntBE(0, timeBytes);
      const left = expiresTime - now();
      // One that expires too late would be remembered for as long: the clock was wrong when it was made.
      if (left <= 0 || left > validSeconds * 1_000) throw noChallenge();
      return { challenge, expiresTime };
    },
  };
};
