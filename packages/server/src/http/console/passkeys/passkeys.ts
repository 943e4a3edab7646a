/**
 * Creates members' passkeys and signs in with them (WebAuthn level 3). The user handle is the memberID, so a person in
 * two accounts has a passkey for each. User verification (fingerprint, PIN) is required: a passkey is the only factor.
 */
import { memberNameField } from '@firsthand/contract/account/members';
import { check } from '@firsthand/contract/checking';
import { labelIDs } from '@firsthand/contract/labels';
import type { Context } from 'hono';
import { nanoid } from 'nanoid';
import { Refusal } from '../../../shared/refusal.ts';
import { notSignedIn } from '../../../store/rules/accounts/passkeys.ts';
import type { Challenge, MemberAccess, NewPasskey, Passkey, Store } from '../../../store/store.ts';
import type { AddressOf } from '../../access/client-address.ts';
import type { RateLimit } from '../../access/rate-limits.ts';
import type { Agent } from '../../request/agents.ts';
import { createChallenges } from './challenges.ts';
import { type RelyingParty, relyingPartyOf } from './relying-party.ts';
import { type Authentication, readAuthentication, readChallenge, readRegistration, transportsIn } from './responses.ts';
import {
  creationOptions,
  type PasskeyUser,
  requestOptions,
  verifyAuthentication,
  verifyRegistration,
} from './webauthn.ts';

/**
 * How often an address may request or answer a challenge. Each such request costs store reads and a hash or signature
 * check.
 */
export const challengeRate = { perSecond: 1, burst: 60 };

interface Dependencies {
  readonly store: Pick<Store, 'getDatabaseKey' | 'findPasskey' | 'usePasskey'>;
  readonly addressOf: AddressOf;
  /** Counts challenges and their responses, by address. */
  readonly challengeLimit: Pick<RateLimit, 'take'>;
  /** Returns the user agent, which provides a passkey's default name. */
  readonly agentOf: (c: Context) => Agent;
  readonly now: () => number;
}

const signingIn = 'sign-in';

/** Returns a passkey's default name: the browser and operating system that created it. */
const nameFrom = ({ labels }: Agent): string => {
  const [browser, os] = [labelIDs.browser, labelIDs.os].map((id) => labels.find(([attrID]) => attrID === id)?.[1]);
  return [browser, os].filter(Boolean).join(', ') || 'Passkey';
};

const readName = (text: unknown, c: Context, agentOf: Dependencies['agentOf']): string => {
  const name = typeof text === 'string' ? text.trim() : text;
  if (name === undefined || name === null || name === '') return nameFrom(agentOf(c));
  const checked = check(memberNameField, name, 'passkeyName');
  if (!checked.ok) throw new Refusal(checked.problem.code, checked.problem);
  return checked.value;
};

export const createPasskeys = ({ store, addressOf, challengeLimit, agentOf, now }: Dependencies) => {
  const challenges = createChallenges({ store, now });

  /** Resolves with the passkey that signed a response, and its new counter; undefined if no passkey signed it. */
  const findSigner = async (response: Authentication, challenge: Challenge, party: RelyingParty) => {
    const passkey = await store.findPasskey({ credentialID: response.id });
    // Checked because localhost has an origin for each port, and the request itself states its origin.
    if (passkey?.origin !== party.origin) return undefined;
    const counter = await verifyAuthentication(response, challenge, party, passkey.publicKey);
    const handle = Buffer.from(response.response.userHandle, 'base64url').toString('utf8');
    return counter !== undefined && handle === passkey.memberID ? { ...passkey, counter } : undefined;
  };

  /** Counts a request by its address. Throws Refusal('too_many_requests'). */
  const takeLimit = (c: Context): void => challengeLimit.take(addressOf(c));

  const issue = async (c: Context, purpose: string) => {
    const { headers } = c.req.raw;
    const party = relyingPartyOf(headers);
    return { party, ...(await challenges.issue(headers, party, purpose)) };
  };

  return {
    /** Call this before doing any work for an options request. */
    takeLimit,

    /** Returns the options for signing in, and their cookie. */
    async optionsToSignIn(c: Context) {
      const { party, bytes, cookie } = await issue(c, signingIn);
      return { options: await requestOptions(party, bytes), cookie };
    },

    /** Returns the member who signs in. All invalid responses get the same refusal. */
    async signIn(passkey: unknown, c: Context): Promise<MemberAccess & { readonly account: number }> {
      takeLimit(c);
      const { headers } = c.req.raw;
      const response = readAuthentication(passkey);
      const party = relyingPartyOf(headers);
      const challenge = await challenges.open(headers, party, signingIn, readChallenge(response));
      const signer = await findSigner(response, challenge, party);
      if (signer === undefined) throw notSignedIn();
      const { passkeyID, counter, account, token, tokenID, kind } = signer;
      await store.usePasskey({ passkeyID, counter, challenge, time: now() });
      return { account, token, tokenID, kind };
    },

    /** Returns the options for creating a passkey, and their cookie. The response must have the same `purpose`. */
    async optionsToCreate(c: Context, purpose: string, user: PasskeyUser, existing: readonly Passkey[] = []) {
      const { party, bytes, cookie } = await issue(c, purpose);
      return { options: await creationOptions(party, bytes, user, existing), cookie };
    },

    /**
     * Returns the passkey that a browser created, and the challenge that it responds to. Throws a Refusal if the
     * response is invalid.
     */
    async read(
      c: Context,
      purpose: string,
      fields: Readonly<Record<string, unknown>>,
    ): Promise<{ passkey: NewPasskey; challenge: Challenge }> {
      takeLimit(c);
      const { headers } = c.req.raw;
      const response = readRegistration(fields.passkey);
      const passkeyName = readName(fields.passkeyName, c, agentOf);
      const party = relyingPartyOf(headers);
      const challenge = await challenges.open(headers, party, purpose, readChallenge(response));
      const verified = await verifyRegistration(response, challenge, party);
      if (verified === undefined) {
        const message = '`passkey` must be a passkey that the browser created for this console, with user verification';
        throw new Refusal('invalid_field', { field: 'passkey', message });
      }
      const passkey = {
        ...verified,
        passkeyID: nanoid(),
        passkeyName,
        origin: party.origin,
        transports: transportsIn(response),
      };
      return { passkey, challenge };
    },
  };
};
export type Passkeys = ReturnType<typeof createPasskeys>;
