const quote = '"'.charCodeAt(0);
const newLine = '\n'.charCodeAt(0);

/** Counts a CSV file's lines from chunks, ignoring line breaks inside quotes. */
export const createLineCount = () => {
  let isQuoted = false;
  let lines = 0;
  return (part: Uint8Array): number => {
    for (const byte of part) {
      if (byte === quote) isQuoted = !isQuoted;
      else if (byte === newLine && !isQuoted) lines += 1;
    }
    return lines;
  };
};
