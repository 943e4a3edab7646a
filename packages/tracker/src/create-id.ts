import { customAlphabet } from 'nanoid';

/**
 * Creates an identifier with the given number of random hexadecimal digits. A userUUID has 21 (84 bits). nanoid's
 * 64-character alphabet would cost 32 more bytes of brotli, because an alphabet doesn't compress.
 */
export const createID = customAlphabet('0123456789abcdef');
