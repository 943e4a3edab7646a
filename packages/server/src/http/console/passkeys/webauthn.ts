/** The library for passkeys (WebAuthn level 3): makes the options that browsers get, and verifies what authenticators answer. */
import type { Challenge, NewPasskey, Passkey } from '../../../store/store.ts';
import type { RelyingParty } from './relying-party.ts';
import type { Authentication, Registration } from './responses.ts';

/** EdDSA, ES256 and RS256 (the COSE algorithms of RFC 9053 and RFC 8812), which all authenticators have one of. */
const algorithms = [-8, -7, -257];
/** In base64url: an RSA key of 4,096 bits has 700 characters. */
const maxKeyCharacters = 1_024;

/** Loaded with the first passkey, which takes 40 ms: most servers have none. */
const library = () => import('@simplewebauthn/server');
const helpers = () => import('@simplewebauthn/server/helpers');

/** How long a browser waits for the person. */
const timeout = 120_000;

/** The person for whom a passkey is made. */
export interface PasskeyUser {
  readonly memberID: string;
  readonly emailaddress: string;
  readonly memberName: string;
  readonly accountName: string;
}

/** The options of `navigator.credentials.get`. They name no passkey: the person chooses one. */
export const requestOptions = async ({ id }: RelyingParty, challenge: Uint8Array<ArrayBuffer>) =>
  (await library()).generateAuthenticationOptions({ rpID: id, challenge, userVerification: 'required', timeout });

/** The options of `navigator.credentials.create`; not for an authenticator that has one of the passkeys `present`. */
export const creationOptions = async (
  { id }: RelyingParty,
  challenge: Uint8Array<ArrayBuffer>,
  { memberID, emailaddress, memberName, accountName }: PasskeyUser,
  present: readonly Passkey[],
) =>
  (await library()).generateRegistrationOptions({
    ...{ rpName: 'Firsthand', rpID: id, challenge, timeout },
    userID: new Uint8Array(Buffer.from(memberID)),
    userName: `${emailaddress} (${accountName})`,
    userDisplayName: memberName,
    attestationType: 'none',
    excludeCredentials: present.map(({ credentialID, transports }) => ({
      id: credentialID,
      transports: [...transports],
    })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: algorithms,
  });

/**
 * Only `none` is asked for. Authenticators that sign with the key itself may send `packed` without certificates (WebAuthn, section
 * 5.1.3). Others hold certificates, which the library would check, and for which it would ask the addresses that they name.
 */
const isPlain = async (attestationObject: Uint8Array<ArrayBuffer>): Promise<boolean> => {
  const decoded = (await helpers()).decodeAttestationObject(attestationObject);
  const format = decoded.get('fmt');
  return format === 'none' || (format === 'packed' && decoded.get('attStmt').get('x5c') === undefined);
};

/** The passkey in a response; undefined if it is not what was asked for. */
const registered = async (
  response: Registration,
  { challenge }: Challenge,
  { origin, id }: RelyingParty,
): Promise<Pick<NewPasskey, 'credentialID' | 'publicKey' | 'counter'> | undefined> => {
  if (!(await isPlain(new Uint8Array(Buffer.from(response.response.attestationObject, 'base64url'))))) return undefined;
  const { registrationInfo } = await (await library()).verifyRegistrationResponse({
    response: { ...response, response: { ...response.response, transports: [] }, clientExtensionResults: {} },
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: true,
    supportedAlgorithmIDs: algorithms,
  });
  if (registrationInfo === undefined) return undefined;
  const { id: credentialID, publicKey: key, counter } = registrationInfo.credential;
  const publicKey = Buffer.from(key).toString('base64url');
  return credentialID === response.id && publicKey.length <= maxKeyCharacters
    ? { credentialID, publicKey, counter }
    : undefined;
};

/** As `registered`; undefined too for what the library can't read. */
export const verifyRegistration: typeof registered = (...asked) => registered(...asked).catch(() => undefined);

/** The counter of a passkey that signed a response; undefined if it did not. The store compares it with the one before. */
export const verifyAuthentication = async (
  response: Authentication,
  { challenge }: Challenge,
  { origin, id }: RelyingParty,
  publicKey: string,
): Promise<number | undefined> => {
  const { verifyAuthenticationResponse } = await library();
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: { ...response, clientExtensionResults: {} },
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: true,
    credential: { id: response.id, publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')), counter: 0 },
  }).catch(() => ({ verified: false, authenticationInfo: undefined }));
  return verified ? authenticationInfo?.newCounter : undefined;
};
