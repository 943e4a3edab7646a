const timeLength = 9;
const alphabet = '0123456789abcdefghijklmnopqrstuvwxyz';
const randomLength = 15;

/**
 * An eventUUID or requestUUID: the milliseconds since 1970, then 75 random bits. Newer ones sort after older ones, so that the
 * store appends to its index.
 */
export const createUUID = (time = Date.now()): string => {
  const random = crypto.getRandomValues(new Uint8Array(randomLength));
  // Each of the 32 symbols stands for 8 of the 256 byte values, so all are equally likely.
  const symbols = Array.from(random, (byte) => alphabet[byte % 32]).join('');
  return time.toString(36).padStart(timeLength, '0') + symbols;
};
