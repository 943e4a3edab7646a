/** Reads a file's records: JSON lines, a JSON array or CSV, optionally compressed with gzip. */
import { createCSVParser, findSeparator } from './csv.ts';
import { createJSONArrayParser } from './json-array.ts';
import { createJSONLinesParser } from './json-lines.ts';
import { type FileRecord, type RecordParser, UnreadableFileError } from './record.ts';

/** A file's bytes: `blob.stream()` in a browser, `Readable.toWeb(createReadStream(path))` on Node. */
export type Source = ReadableStream<Uint8Array>;

const startsWith = (bytes: Uint8Array, prefix: readonly number[]): boolean =>
  prefix.every((byte, index) => bytes[index] === byte);

const gzip = [0x1f, 0x8b];
const byteOrderMark = [0xef, 0xbb, 0xbf];

/** Advice for files of other kinds, by their first bytes. */
const otherKinds: readonly (readonly [prefix: readonly number[], advice: string])[] = [
  [
    [0x50, 0x4b, 0x03, 0x04],
    'the file is a ZIP archive: unpack it, and import the file of events in it. Plausible exports no events',
  ],
  [[0x50, 0x41, 0x52, 0x31], 'the file is in Parquet format, which the command `firsthand import` reads'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'the file is compressed with Zstandard: decompress it, or compress it with gzip'],
  [[0xff, 0xfe], 'the text is UTF-16: save the file as UTF-8'],
  [[0xfe, 0xff], 'the text is UTF-16: save the file as UTF-8'],
];

/** How many bytes are read to recognize a file's kind. */
const startLength = 1_024;

const concat = (a: Uint8Array, b: Uint8Array): Uint8Array => {
  const bytes = new Uint8Array(a.length + b.length);
  bytes.set(a);
  bytes.set(b, a.length);
  return bytes;
};

/** Reads the start of a stream, which is the whole file if it is shorter. `whole` is the stream including its start. */
const peek = async (source: Source): Promise<{ start: Uint8Array; whole: Source }> => {
  const reader = source.getReader();
  let start: Uint8Array = new Uint8Array();
  let isEnded = false;
  while (start.length < startLength && !isEnded) {
    const { done, value } = await reader.read();
    if (done) isEnded = true;
    else start = concat(start, value);
  }
  const whole = new ReadableStream<Uint8Array>({
    start(controller) {
      if (start.length > 0) controller.enqueue(start);
      if (isEnded) controller.close();
    },
    async pull(controller) {
      // The stream does not pull again after a pull that enqueues nothing.
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        if (value.length > 0) return controller.enqueue(value);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return { start, whole };
};

/**
 * Node 20 queues up to 256 MiB here, and continues to read after the reader has stopped. A program that reads large
 * files on Node should decompress them itself, with `createGunzip`.
 */
const decompress = (source: Source): Source => {
  const { readable, writable } = new DecompressionStream('gzip');
  // A byte stream; DOM and Node types describe it differently.
  return source.pipeThrough({ readable, writable: writable as WritableStream<Uint8Array> });
};

const chooseParser = (start: Uint8Array): RecordParser => {
  const text = new TextDecoder().decode(start);
  const [first = ''] = text.trimStart();
  if (first === '[') return createJSONArrayParser();
  return first === '{' ? createJSONLinesParser() : createCSVParser(findSeparator(text));
};

const readParts = async function* (source: Source): AsyncGenerator<Iterable<FileRecord>> {
  const raw = await peek(source);
  const { start, whole } = startsWith(raw.start, gzip) ? await peek(decompress(raw.whole)) : raw;
  const reader = whole.getReader();
  try {
    const advice = otherKinds.find(([prefix]) => startsWith(start, prefix))?.[1];
    if (advice !== undefined) throw new UnreadableFileError(advice);
    const offset = startsWith(start, byteOrderMark) ? byteOrderMark.length : 0;
    const parser = chooseParser(start.subarray(offset));
    for (let isFirst = true; ; isFirst = false) {
      const { done, value } = await reader.read();
      if (done) break;
      yield parser.push(isFirst ? value.subarray(offset) : value);
    }
    yield parser.end();
  } finally {
    await reader.cancel().catch(() => undefined);
  }
};

/**
 * Reads a file to its end. Yields many records at a time, because a step of an async generator takes longer than
 * parsing a line. Rejects with an UnreadableFileError if the rest of the file can't be read.
 */
export async function* readRecords(source: Source): AsyncGenerator<Iterable<FileRecord>> {
  try {
    yield* readParts(source);
  } catch (error) {
    if (error instanceof UnreadableFileError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new UnreadableFileError(`the rest of the file can't be read: ${reason}. Is the file complete?`, {
      cause: error,
    });
  }
}
