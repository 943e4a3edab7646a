const timeLength = 9;
const alphabet = '0123456789abcdefghijklmnopqrstuvwxyz';
const randomLength = 15;

/**
 * An eventUUID or requestUUID: the milliseconds since 1970, so that newer ones sort after older ones and the store
 * appends instead of searching, then 75 random bits.
 */
export const createUUID = (time = Date.now()): string => {
  const random = crypto.getRandomValues(new Uint8Array(randomLength));
  // Of 256 byte values 32 symbols take 8 each: no symbol is likelier than another.
  const symbols = Array.from(random, (byte) => alphabet[byte % 32]).join('');
  return time.toString(36).padStart(timeLength, '0') + symbols;
};
