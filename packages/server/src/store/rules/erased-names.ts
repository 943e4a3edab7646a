/** Names of erased contacts, claims and requests. The store keeps only keyed hashes of them, to answer late requests. */

/** A claim, as the token that made it names it. */
export const handleName = (token: number, claimID: string): string => `handle\n${token}\n${claimID}`;
/** A claim, as the account's owner names it. */
export const claimName = (claimID: string): string => `claim\n${claimID}`;
/** A createContact whose contact is erased. */
export const requestName = (token: number, userUUID: string, requestUUID: string): string =>
  `request\n${token}\n${userUUID}\n${requestUUID}`;
/** As requestName, for a request of which only the key is stored: see idempotency-keys.ts. */
export const requestKeyName = (user: number, key: string): string => `request\n${user}\n${key}`;
