import { hkdfSync } from 'node:crypto';
import { limits } from '@firsthand/contract/limits';
import { Refusal } from '../../../shared/refusal.ts';

/** Derives a key for hashes and seals from the database's secret. Never change it: stored hashes depend on it. */
export const toDatabaseKey = (secret: Uint8Array): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', secret, '', 'challenges of passkeys', 32));

/** Throws a Refusal if a member with this many passkeys cannot add another passkey. */
export const checkRoomForPasskey = (passkeys: number): void => {
  const max = limits.passkeysPerMember;
  if (passkeys < max) return;
  throw new Refusal('invalid_field', {
    field: 'passkey',
    message: `you already have ${max} passkeys, the maximum: remove one first`,
  });
};

export const duplicateCredential = (): Refusal =>
  new Refusal('invalid_field', { field: 'passkey', message: 'this passkey is already registered' });

export const unknownPasskey = (): Refusal =>
  new Refusal('invalid_field', { field: 'passkeyID', message: '`passkeyID` is not one of your passkeys' });

/** The refusal for removing a member's only credential. */
export const lastCredential = (): Refusal =>
  new Refusal('invalid_field', {
    field: 'passkeyID',
    message: '`passkeyID` is your only way to sign in: add another passkey or set a password first',
  });

/** The refusal for every failed sign-in. It does not reveal whether the passkey exists. */
export const notSignedIn = (): Refusal =>
  new Refusal('invalid_token', { field: 'passkey', message: 'signing in with this passkey failed: try again' });

/** The refusal for a challenge that was sent to another browser, has expired, or was used before. */
export const noChallenge = (): Refusal =>
  new Refusal('invalid_token', {
    field: 'passkey',
    message: 'the passkey response belongs to an earlier request: try again',
  });

/**
 * Whether a signature counter may follow the previous one: it must increase, unless the authenticator does not count.
 */
export const isCounterValid = (counter: number, before: number): boolean =>
  counter > before || (counter === 0 && before === 0);
