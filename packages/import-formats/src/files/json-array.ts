/** Reads the elements of a JSON array one by one, so that memory does not grow with the file. */
import { maxRecordBytes } from './limits.ts';
import { parseObject } from './parse-object.ts';
import { createPendingBytes } from './pending-bytes.ts';
import { type FileRecord, type RecordParser, UnreadableFileError } from './record.ts';
import { decodeText, notUTF8 } from './text.ts';

const [lineFeed, quote, backslash, comma] = [0x0a, 0x22, 0x5c, 0x2c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];
const isSpace = (byte: number): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);

export const createJSONArrayParser = (): RecordParser => {
  let line = 1;
  let elements = 0;
  let elementLine = 0;
  /** The number of open arrays and objects, including the file's array. */
  let depth = 0;
  let isInString = false;
  let isEscaped = false;
  let isEnded = false;
  const pending = createPendingBytes(maxRecordBytes);

  const take = (end: Uint8Array): FileRecord => {
    const bytes = pending.take(end);
    const name = `element ${elements} of the array`;
    if (bytes === undefined)
      return { line: elementLine, problem: `${name} is larger than ${maxRecordBytes / 1024 / 1024} MiB` };
    const text = decodeText(bytes);
    const parsed = text === undefined ? { problem: notUTF8 } : parseObject(text);
    const problem = 'problem' in parsed ? { problem: `${name}: ${parsed.problem}` } : parsed;
    return { line: elementLine, ...problem };
  };

  /** A byte between elements. */
  const readSeparator = (byte: number): void => {
    if (isSpace(byte) || (byte === comma && depth === 1)) return;
    if (byte === openBracket && depth === 0 && !isEnded) depth = 1;
    else if (byte === closeBracket && depth === 1) {
      depth = 0;
      isEnded = true;
    } else {
      const place = isEnded ? 'after the end of the array' : `after element ${elements} of the array`;
      throw new UnreadableFileError(`line ${line}: there is text ${place}, where only an object may follow`);
    }
  };

  return {
    *push(chunk) {
      let from = 0;
      for (let at = 0; at < chunk.length; at++) {
        const byte = chunk[at] as number;
        if (byte === lineFeed) line += 1;
        if (isInString) {
          if (isEscaped) isEscaped = false;
          else if (byte === backslash) isEscaped = true;
          else if (byte === quote) isInString = false;
        } else if (depth > 1) {
          if (byte === quote) isInString = true;
          else if (byte === openBrace || byte === openBracket) depth += 1;
          else if (byte === closeBrace || byte === closeBracket) {
            depth -= 1;
            if (depth === 1) yield take(chunk.subarray(from, at + 1));
          }
        } else if (byte === openBrace && depth === 1) {
          depth = 2;
          from = at;
          elements += 1;
          elementLine = line;
        } else readSeparator(byte);
      }
      if (depth > 1) pending.add(chunk.subarray(from));
    },
    *end() {
      if (!isEnded)
        yield {
          line,
          problem: `the file ends after ${elements} ${elements === 1 ? 'element' : 'elements'}, before the end of its array`,
        };
    },
  };
};
