/**
 * Passkeys of members (WebAuthn level 3): making them, and signing in with them. The user handle of a passkey is the memberID: a person
 * who is a member of two accounts has a passkey for each. User verification (a fingerprint, a PIN) is required, because a passkey
 * is all that a person signs in with.
 */
import { memberNameField } from '@firsthand/contract/account/members';
import { check } from '@firsthand/contract/checking';
import { labelIDs } from '@firsthand/contract/labels';
import type { Context } from 'hono';
import { nanoid } from 'nanoid';
import { Refusal } from '../../../shared/refusal.ts';
import { notSignedIn } from '../../../store/rules/accounts/passkeys.ts';
import type { Challenge, NewPasskey, Passkey, SignedIn, Store } from '../../../store/store.ts';
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

/** How often an address may ask for a challenge, or answer one: each costs reads of the store, and a hash or a signature. */
export const challengeRate = { perSecond: 1, burst: 60 };

interface Surroundings {
  readonly store: Pick<Store, 'getChallengeKey' | 'findPasskey' | 'usePasskey'>;
  readonly addressOf: AddressOf;
  /** Counts challenges and their answers, by address. */
  readonly challengeLimit: Pick<RateLimit, 'take'>;
  /** The program that sent a request, after which a passkey is named. */
  readonly agentOf: (c: Context) => Agent;
  readonly now: () => number;
}

const signingIn = 'sign-in';

/** The name of a passkey that was given none: the browser and the system that it was made with. */
const nameFrom = ({ labels }: Agent): string => {
  const [browser, os] = [labelIDs.browser, labelIDs.os].map((id) => labels.find(([attrID]) => attrID === id)?.[1]);
  return [browser, os].filter(Boolean).join(', ') || 'Passkey';
};

const readName = (given: unknown, c: Context, agentOf: Surroundings['agentOf']): string => {
  const name = typeof given === 'string' ? given.trim() : given;
  if (name === undefined || name === null || name === '') return nameFrom(agentOf(c));
  const checked = check(memberNameField, name, 'passkeyName');
  if (!checked.ok) throw new Refusal(checked.problem.code, checked.problem);
  return checked.value;
};

export const createPasskeys = ({ store, addressOf, challengeLimit, agentOf, now }: Surroundings) => {
  const challenges = createChallenges({ store, now });

  /** The passkey that signed a response, with its new counter; undefined: none did. */
  const signerOf = async (response: Authentication, challenge: Challenge, party: RelyingParty) => {
    const found = await store.findPasskey({ credentialID: response.id });
    // Pages of this machine have many origins, and a request says itself which is its own.
    if (found?.origin !== party.origin) return undefined;
    const counter = await verifyAuthentication(response, challenge, party, found.publicKey);
    const handle = Buffer.from(response.response.userHandle, 'base64url').toString('utf8');
    return counter !== undefined && handle === found.memberID ? { ...found, counter } : undefined;
  };

  /** Counts a request by its address. Throws Refusal('too_many_requests'). */
  const takeLimit = (c: Context): void => challengeLimit.take(addressOf(c));

  const issue = async (c: Context, purpose: string) => {
    const { headers } = c.req.raw;
    const party = relyingPartyOf(headers);
    return { party, ...(await challenges.issue(headers, party, purpose)) };
  };

  return {
    /** To be called before a request for options costs anything. */
    takeLimit,

    /** The options to sign in, and the cookie that belongs to them. */
    async optionsToSignIn(c: Context) {
      const { party, bytes, cookie } = await issue(c, signingIn);
      return { options: await requestOptions(party, bytes), cookie };
    },

    /** The member who signs in. Every other answer is refused alike. */
    async signIn(given: unknown, c: Context): Promise<SignedIn & { readonly account: number }> {
      takeLimit(c);
      const { headers } = c.req.raw;
      const response = readAuthentication(given);
      const party = relyingPartyOf(headers);
      const challenge = await challenges.open(headers, party, signingIn, readChallenge(response));
      const signer = await signerOf(response, challenge, party);
      if (signer === undefined) throw notSignedIn();
      const { passkeyID, counter, account, token, tokenID, kind } = signer;
      await store.usePasskey({ passkeyID, counter, challenge, time: now() });
      return { account, token, tokenID, kind };
    },

    /** The options to make a passkey, and the cookie that belongs to them. `purpose` is that of the answer. */
    async optionsToCreate(c: Context, purpose: string, user: PasskeyUser, present: readonly Passkey[] = []) {
      const { party, bytes, cookie } = await issue(c, purpose);
      return { options: await creationOptions(party, bytes, user, present), cookie };
    },

    /** The passkey that a browser has made, and the challenge that it answers. Throws a Refusal for anything else. */
    async read(
      c: Context,
      purpose: string,
      given: Readonly<Record<string, unknown>>,
    ): Promise<{ passkey: NewPasskey; challenge: Challenge }> {
      takeLimit(c);
      const { headers } = c.req.raw;
      const response = readRegistration(given.passkey);
      const passkeyName = readName(given.passkeyName, c, agentOf);
      const party = relyingPartyOf(headers);
      const challenge = await challenges.open(headers, party, purpose, readChallenge(response));
      const made = await verifyRegistration(response, challenge, party);
      if (made === undefined) {
        const message = '`passkey` must be what the browser made for this console, with user verification';
        throw new Refusal('invalid_field', { field: 'passkey', message });
      }
      const passkey = {
        ...made,
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
