import { hkdfSync } from 'node:crypto';
import { limits } from '@firsthand/contract/limits';
import { Refusal } from '../../../shared/refusal.ts';

/** The key that seals challenges, from the secret of a database, which is the key of other hashes. */
export const toChallengeKey = (secret: Uint8Array): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', secret, '', 'challenges of passkeys', 32));

/** Throws a Refusal when a member who has so many passkeys may not add one. */
export const checkRoomForPasskey = (passkeys: number): void => {
  const most = limits.passkeysPerMember;
  if (passkeys < most) return;
  throw new Refusal('invalid_field', {
    field: 'passkey',
    message: `\`passkey\` is one too many: you have ${most} already; remove one first`,
  });
};

export const knownCredential = (): Refusal =>
  new Refusal('invalid_field', { field: 'passkey', message: '`passkey` is there already' });

export const unknownPasskey = (): Refusal =>
  new Refusal('invalid_field', { field: 'passkeyID', message: '`passkeyID` names no passkey of yours' });

/** The refusal to remove the last way to sign in. */
export const lastWay = (): Refusal =>
  new Refusal('invalid_field', {
    field: 'passkeyID',
    message: '`passkeyID` is your only way to sign in: add another passkey or set a password first',
  });

/** The one refusal of every answer that signs nobody in: it does not say whether there is such a passkey. */
export const notSignedIn = (): Refusal =>
  new Refusal('invalid_token', { field: 'passkey', message: 'the passkey does not sign in here: try again' });

/** The refusal of a challenge that this browser was not given, that has expired, or that was answered before. */
export const noChallenge = (): Refusal =>
  new Refusal('invalid_token', { field: 'passkey', message: 'the passkey answers an earlier request: try again' });

/** Whether the counter of a sign-in may follow the one before: it grows, unless the authenticator does not count. */
export const mayFollow = (counter: number, before: number): boolean =>
  counter > before || (counter === 0 && before === 0);
