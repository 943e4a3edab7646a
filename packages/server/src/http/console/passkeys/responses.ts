/**
 * The passkey JSON that browsers send: `PublicKeyCredential.toJSON()` (WebAuthn level 3, section 5.1). All lengths are
 * limited.
 */
import { check } from '@firsthand/contract/checking';
import { parseJSON } from '@firsthand/contract/json';
import * as z from 'zod';
import { Refusal } from '../../../shared/refusal.ts';
import { noChallenge } from '../../../store/rules/accounts/passkeys.ts';

const base64url = (maxCharacters: number) =>
  z
    .string('must be text')
    .max(maxCharacters, `must have at most ${maxCharacters} characters`)
    .regex(/^[\w-]*$/, 'must be base64url');

/** A credential ID has at most 1,023 bytes (WebAuthn, section 4). */
const credentialID = base64url(1_364).min(1, 'must not be empty');
/** Contains the challenge and the origin. */
const clientDataJSON = base64url(4_096);

const credential = {
  id: credentialID,
  rawId: credentialID,
  type: z.literal('public-key', 'must be "public-key"'),
};

const registration = z.object({
  ...credential,
  response: z.object({
    clientDataJSON,
    attestationObject: base64url(16_384),
    transports: z.array(z.string().max(32)).max(16).optional(),
  }),
});
export type Registration = z.output<typeof registration>;

const authentication = z.object({
  ...credential,
  response: z.object({
    clientDataJSON,
    authenticatorData: base64url(4_096),
    signature: base64url(2_048),
    /** A user handle has at most 64 bytes. */
    userHandle: base64url(88),
  }),
});
export type Authentication = z.output<typeof authentication>;

const read = <Out>(schema: z.ZodType<Out>, response: unknown): Out => {
  const checked = check(schema, response, 'passkey');
  if (!checked.ok) throw new Refusal(checked.problem.code, checked.problem);
  return checked.value;
};
export const readRegistration = (response: unknown): Registration => read(registration, response);
export const readAuthentication = (response: unknown): Authentication => read(authentication, response);

/** Returns the challenge that a response is for. Throws a Refusal for a response from a cross-origin frame. */
export const readChallenge = ({ response }: { readonly response: { readonly clientDataJSON: string } }): string => {
  let data: unknown;
  try {
    data = parseJSON(Buffer.from(response.clientDataJSON, 'base64url').toString('utf8'));
  } catch {
    throw noChallenge();
  }
  const { challenge, crossOrigin } = Object(data) as { challenge?: unknown; crossOrigin?: unknown };
  if (typeof challenge !== 'string' || crossOrigin === true) throw noChallenge();
  return challenge;
};

const knownTransports = new Set(['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb']);
/** Returns the known transports of a response (WebAuthn, section 5.8.4). */
export const transportsIn = ({ response }: Registration): string[] => [
  ...new Set((response.transports ?? []).filter((each) => knownTransports.has(each))),
];
