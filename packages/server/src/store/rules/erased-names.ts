/** Names of erased contacts, claims and requests. The store keeps only keyed hashes of them, to answer late requests. */
import { createHmac } from 'node:crypto';
import { Refusal } from '../../shared/refusal.ts';

/** A claim, as the token that made it names it. */
export const handleName = (token: number, claimID: string): string => `handle\n${token}\n${claimID}`;
/** A claim, as the account's owner names it. */
export const claimName = (claimID: string): string => `claim\n${claimID}`;
/** A createContact whose contact is erased. */
export const requestName = (token: number, userUUID: string, requestUUID: string): string =>
  `request\n${token}\n${userUUID}\n${requestUUID}`;
/** As requestName, for a request of which only the key is stored: see idempotency-keys.ts. */
export const requestKeyName = (user: number, key: string): string => `request\n${user}\n${key}`;

/** Returns a function that returns the hash of a name. `secret` is the key of the database's hashes. */
export const createNameHash = (secret: Buffer) => (account: number, name: string) =>
  createHmac('sha256', secret).update(`${account}\n${name}`).digest();

/** Returns the Refusal for a name, in a field, that names no contact. */
export const missingContact = (field: string, isErased: boolean): Refusal =>
  isErased
    ? new Refusal('erased_contact', { field })
    : new Refusal('unknown_contact', { field, message: `\`${field}\` names no contact of this account` });
