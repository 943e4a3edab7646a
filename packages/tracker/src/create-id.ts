import { customAlphabet } from 'nanoid';

/**
 * Makes an identifier of this many random hexadecimal digits: 84 bits in a userUUID, which has 21. nanoid's own alphabet of 64
 * characters would cost 32 bytes of brotli more, because an alphabet can't be packed.
 */
export const createID = customAlphabet('0123456789abcdef');
