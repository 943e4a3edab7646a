/**
 * Names of erased contacts, claims and requests. Only keyed hashes of these names are stored, to recognize late
 * requests.
 */
import { createHmac } from 'node:crypto';
import { Refusal } from '../../shared/refusal.ts';

/** The name by which the token that made a claim identifies it. */
export const handleName = (token: number, claimID: string): string => `handle\n${token}\n${claimID}`;
/** The name by which the account's other tokens identify a claim. */
export const claimName = (claimID: string): string => `claim\n${claimID}`;
/** The name of a createContact request whose contact was erased. */
export const requestName = (token: number, userUUID: string | null, requestUUID: string): string =>
  `request\n${token}\n${userUUID ?? ''}\n${requestUUID}`;
/** Like requestName, for a request that is stored only as a key (idempotency-keys.ts). */
export const requestKeyName = (user: number, key: string): string => `request\n${user}\n${key}`;

/** Returns a function that hashes names. `secret`: the database's HMAC key. */
export const createNameHash = (secret: Buffer) => (account: number, name: string) =>
  createHmac('sha256', secret).update(`${account}\n${name}`).digest();

/** Returns the Refusal for a field that does not identify a contact. */
export const missingContact = (field: string, isErased: boolean): Refusal =>
  isErased
    ? new Refusal('erased_contact', { field })
    : new Refusal('unknown_contact', { field, message: `\`${field}\` does not match any contact of this account` });
