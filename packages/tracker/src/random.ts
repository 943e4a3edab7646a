/** Random text of so many letters and digits, 5 bits in each. The page may be plain http, where there is no `crypto.randomUUID`. */
export const randomText = (length: number): string =>
  crypto.getRandomValues(new Uint8Array(length)).reduce((text, byte) => text + (byte % 36).toString(36), '');
