import { customAlphabet } from 'nanoid';

/**
 * Creates an identifier of this many random hexadecimal digits: 84 bits in a userUUID, which has 21. nanoid's
 * 64-character alphabet would cost 32 more bytes of brotli, because an alphabet doesn't compress.
 */
export const createID = customAlphabet('0123456789abcdef');
