/** Wraps the WebAuthn level 3 library: creates the options for browsers and verifies authenticators' responses. */
import type { Challenge, NewPasskey, Passkey } from '../../../store/store.ts';
import type { RelyingParty } from './relying-party.ts';
import type { Authentication, Registration } from './responses.ts';

/** EdDSA, ES256 and RS256 (COSE algorithms, RFC 9053 and RFC 8812). Every authenticator supports at least one. */
const algorithms = [-8, -7, -257];
/** The maximum length of a key in base64url. A 4,096-bit RSA key has 700 characters. */
const maxKeyCharacters = 1_024;

/** Loaded lazily, because it takes 40 ms and most servers have no passkeys. */
const library = () => import('@simplewebauthn/server');
const helpers = () => import('@simplewebauthn/server/helpers');

/** How long a browser waits for the person to respond, in milliseconds. */
const timeout = 120_000;

/** The person for whom a passkey is created. */
export interface PasskeyUser {
  readonly memberID: string;
  readonly emailaddress: string;
  readonly memberName: string;
  readonly accountName: string;
}

/** Returns the options for `navigator.credentials.get`. They don't list passkeys: the person chooses a passkey. */
export const requestOptions = async ({ id }: RelyingParty, challenge: Uint8Array<ArrayBuffer>) =>
  (await library()).generateAuthenticationOptions({ rpID: id, challenge, userVerification: 'required', timeout });

/**
 * Returns the options for `navigator.credentials.create`. Authenticators that hold one of the `existing` passkeys are
 * excluded.
 */
export const creationOptions = async (
  { id }: RelyingParty,
  challenge: Uint8Array<ArrayBuffer>,
  { memberID, emailaddress, memberName, accountName }: PasskeyUser,
  existing: readonly Passkey[],
) =>
  (await library()).generateRegistrationOptions({
    ...{ rpName: 'Firsthand', rpID: id, challenge, timeout },
    userID: new Uint8Array(Buffer.from(memberID)),
    userName: `${emailaddress} (${accountName})`,
    userDisplayName: memberName,
    attestationType: 'none',
    excludeCredentials: existing.map(({ credentialID, transports }) => ({
      id: credentialID,
      transports: [...transports],
    })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: algorithms,
  });

/**
 * Whether the attestation has no certificates. We request `none`, but self-attesting authenticators can send `packed`
 * (WebAuthn, section 5.1.3). The library would fetch revocation lists from addresses in certificates.
 */
const isWithoutCertificates = async (attestationObject: Uint8Array<ArrayBuffer>): Promise<boolean> => {
  const decoded = (await helpers()).decodeAttestationObject(attestationObject);
  const format = decoded.get('fmt');
  return format === 'none' || (format === 'packed' && decoded.get('attStmt').get('x5c') === undefined);
};

/**
 * Resolves with the passkey in a response; undefined if it doesn't match the options. Rejects if the library can't read
 * it.
 */
const readRegistered = async (
  response: Registration,
  { challenge }: Challenge,
  { origin, id }: RelyingParty,
): Promise<Pick<NewPasskey, 'credentialID' | 'publicKey' | 'counter'> | undefined> => {
  if (!(await isWithoutCertificates(new Uint8Array(Buffer.from(response.response.attestationObject, 'base64url')))))
    return undefined;
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

/** Like `readRegistered`, but also resolves with undefined for a response that the library can't read. */
export const verifyRegistration: typeof readRegistered = (...args) => readRegistered(...args).catch(() => undefined);

/**
 * Resolves with the new counter if the passkey signed the response, otherwise with undefined. The store compares the
 * new counter with the previous counter.
 */
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
