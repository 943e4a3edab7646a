/**
 * The body of an event: one bytea with the values that reads return but no index holds. It keeps the row at eight columns, beyond
 * which PostgreSQL's row header takes 8 bytes more, and its texts need no length headers of their own.
 *
 *   - a byte of flags; the time between the event and its receipt, in milliseconds
 *   - the length of the eventUUID in a byte, and its characters, each in 6 bits (the alphabet of base64url)
 *   - attrID, attrValue, attrID, attrValue …: for each, the length in bytes, and UTF-8
 *
 * Times and lengths of texts are written 7 bits to a byte, the lowest first; the eighth bit says that more bytes follow.
 */

const timeReplacedFlag = 1;
/** eventTime is after receivedTime. */
const aheadFlag = 2;

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const noCharacter = 64;
const sixBitsOf = new Uint8Array(128).fill(noCharacter);
for (let bits = 0; bits < noCharacter; bits += 1) sixBitsOf[alphabet.charCodeAt(bits)] = bits;

/** The values of a new event. Its texts hold no lone surrogates (fields.ts of the contract), which UTF-8 cannot encode. */
export interface NewBody {
  readonly eventTime: number;
  readonly timeReplaced: boolean | 0 | 1;
  readonly eventUUID: string;
  readonly attributes: readonly (readonly [attrID: string, attrValue: string])[];
}

export interface EventBody {
  readonly receivedTime: number;
  readonly timeReplaced: boolean;
  readonly eventUUID: string;
  /** attrID, attrValue, attrID, attrValue … */
  readonly attributes: readonly string[];
}

/** A text of at most this many UTF-16 code units takes less than 128 bytes of UTF-8, so its length takes one byte. */
const shortText = 42;
const mostBytesOfUnit = 3;
const mostBytesOfNumber = 8;

/** A growing buffer. `expected` is its approximate size in bytes. */
const createBytes = (expected: number) => {
  let bytes = Buffer.allocUnsafe(expected);
  let end = 0;

  const reserve = (more: number) => {
    if (end + more <= bytes.length) return;
    const longer = Buffer.allocUnsafe(Math.max(2 * bytes.length, end + more));
    bytes.copy(longer, 0, 0, end);
    bytes = longer;
  };

  /** Writes a number from 0 to 2^53. The caller has reserved the bytes. */
  const putNumber = (number: number) => {
    let rest = number;
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes[end++] = (rest % 128) + 128;
    bytes[end++] = rest;
  };

  return {
    end: () => end,
    written: () => bytes.subarray(0, end),

    putTimes(receivedTime: number, { eventTime, timeReplaced }: NewBody) {
      reserve(1 + mostBytesOfNumber);
      const ahead = eventTime > receivedTime;
      bytes[end++] = (timeReplaced ? timeReplacedFlag : 0) + (ahead ? aheadFlag : 0);
      putNumber(ahead ? eventTime - receivedTime : receivedTime - eventTime);
    },

    putUUID(uuid: string) {
      const { length } = uuid;
      reserve(1 + length);
      bytes[end++] = length;
      let held = 0;
      let bits = 0;
      for (let nth = 0; nth < length; nth += 1) {
        const six = sixBitsOf[uuid.charCodeAt(nth)] ?? noCharacter;
        if (six === noCharacter) throw new Error('an eventUUID holds what none may');
        held = (held << 6) | six;
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        bytes[end++] = held >> bits;
      }
      if (bits > 0) bytes[end++] = held << (8 - bits);
    },

    putText(text: string) {
      const { length } = text;
      reserve(mostBytesOfNumber + mostBytesOfUnit * length);
      if (length > shortText) putNumber(Buffer.byteLength(text));
      else end += 1;
      const start = end;
      end += bytes.write(text, start);
      if (length <= shortText) bytes[start - 1] = end - start;
    },
  };
};

/** The usual size of a body; buffers grow for larger ones. */
const usualBytes = 256;

interface EventBodies {
  add(event: NewBody, receivedTime: number): void;
  /** Returns all bodies, concatenated. */
  bytes(): Buffer;
  /** The end of each body in these bytes. */
  readonly ends: readonly number[];
}

/** Returns a writer of the bodies of about `expected` events. */
export const createBodies = (expected: number): EventBodies => {
  const bytes = createBytes(expected * usualBytes);
  const ends: number[] = [];
  return {
    add(event, receivedTime) {
      bytes.putTimes(receivedTime, event);
      bytes.putUUID(event.eventUUID);
      for (const [attrID, attrValue] of event.attributes) {
        bytes.putText(attrID);
        bytes.putText(attrValue);
      }
      ends.push(bytes.end());
    },
    bytes: bytes.written,
    ends,
  };
};

/** Returns the body of each event. */
export const toBodies = (events: readonly (NewBody & { readonly receivedTime: number })[]): Buffer[] => {
  const bodies = createBodies(events.length);
  for (const event of events) bodies.add(event, event.receivedTime);
  const bytes = bodies.bytes();
  return bodies.ends.map((end, nth) => bytes.subarray(bodies.ends[nth - 1] ?? 0, end));
};

/** Returns bytes that the body of every event with this attrID, or attrID and attrValue, contains; few other bodies do. */
export const toSought = (texts: readonly string[]): Buffer => {
  const bytes = createBytes(usualBytes);
  for (const text of texts) bytes.putText(text);
  return bytes.written();
};

const beyondASCII = /[\x80-\xff]/;

/** Returns a reader of a body, from its beginning. */
const createReader = (body: Buffer) => {
  // One character for each byte: slices of this string are cheap, and ASCII texts, which most are, need no decoding.
  const characters = body.toString('latin1');
  let at = 0;

  const byte = () => characters.charCodeAt(at++);

  const number = (): number => {
    let value = 0;
    for (let unit = 1; ; unit *= 128) {
      const next = byte();
      value += (next & 127) * unit;
      if (next < 128) return value;
    }
  };

  return {
    byte,
    number,
    isAtEnd: () => at === characters.length,

    uuid(): string {
      const length = byte();
      let uuid = '';
      let held = 0;
      let bits = 0;
      while (uuid.length < length) {
        if (bits < 6) {
          held = (held << 8) | byte();
          bits += 8;
        }
        bits -= 6;
        uuid += alphabet[(held >> bits) & 63];
      }
      return uuid;
    },

    text(): string {
      const length = number();
      const start = at;
      at += length;
      const text = characters.slice(start, at);
      return beyondASCII.test(text) ? body.toString('utf8', start, at) : text;
    },
  };
};
type Reader = ReturnType<typeof createReader>;

const readTimes = (reader: Reader, eventTime: number) => {
  const flags = reader.byte();
  const distance = reader.number();
  return {
    receivedTime: (flags & aheadFlag) === 0 ? eventTime + distance : eventTime - distance,
    timeReplaced: (flags & timeReplacedFlag) !== 0,
  };
};

export const readBody = (body: Buffer, eventTime: number): EventBody => {
  const reader = createReader(body);
  const { receivedTime, timeReplaced } = readTimes(reader, eventTime);
  const eventUUID = reader.uuid();
  const attributes: string[] = [];
  while (!reader.isAtEnd()) attributes.push(reader.text());
  return { receivedTime, timeReplaced, eventUUID, attributes };
};

/** The first bytes of a body that are enough to read the received time. */
export const bytesOfTimes = 1 + mostBytesOfNumber;

export const readReceivedTime = (start: Buffer, eventTime: number): number =>
  readTimes(createReader(start), eventTime).receivedTime;
