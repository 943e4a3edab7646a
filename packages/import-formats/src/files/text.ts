const decoder = new TextDecoder('utf-8', { fatal: true });

/** Returns the text of UTF-8 bytes; undefined if they are not UTF-8. */
export const decodeText = (bytes: Uint8Array): string | undefined => {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
};

export const notUTF8 = 'the text is not UTF-8: save the file as UTF-8';
