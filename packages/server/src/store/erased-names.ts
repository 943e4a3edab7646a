/** By which names what is erased is still known: only keyed hashes of them remain. */

/** A claim, to the token that made it. */
export const handleName = (token: number, claimID: string): string => `handle\n${token}\n${claimID}`;
/** A claim, to the account's owner. */
export const claimName = (claimID: string): string => `claim\n${claimID}`;
/** A createContact whose contact is erased. */
export const requestName = (token: number, userUUID: string, requestUUID: string): string =>
  `request\n${token}\n${userUUID}\n${requestUUID}`;
/** As requestName, where only the key of the request is known: see sent-keys.ts. */
export const requestKeyName = (user: number, key: string): string => `request\n${user}\n${key}`;
