/**
 * What of an event is told and never asked for, as bytes: a row of eight columns has the smallest head that PostgreSQL
 * gives, and no text with a length of its own.
 *
 *   - a byte of flags, and how long before it was received the event happened
 *   - the length of the eventUUID in a byte, and its characters, each in 6 bits (those of base64url)
 *   - attrID, attrValue, attrID, attrValue …: of each the length in bytes, and UTF-8
 *
 * Times and lengths are written 7 bits to a byte, the lowest first; the eighth says that more follow.
 */

const timeReplacedFlag = 1;
/** It happened after it was received, if one believes its clock. */
const aheadFlag = 2;

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const noCharacter = 64;
const sixBitsOf = new Uint8Array(128).fill(noCharacter);
for (let bits = 0; bits < noCharacter; bits += 1) sixBitsOf[alphabet.charCodeAt(bits)] = bits;

/** Of an event that is kept; its texts hold no lone surrogates (fields.ts of the contract), which no UTF-8 can carry. */
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

/** A text of so few code units takes less than 128 bytes, whatever they are. */
const shortText = 42;
const mostBytesOfUnit = 3;
const mostBytesOfNumber = 8;

/** Bytes that are written one after the other; `expected` is how many, about. */
const createBytes = (expected: number) => {
  let bytes = Buffer.allocUnsafe(expected);
  let end = 0;

  const reserve = (more: number) => {
    if (end + more <= bytes.length) return;
    const longer = Buffer.allocUnsafe(Math.max(2 * bytes.length, end + more));
    bytes.copy(longer, 0, 0, end);
    bytes = longer;
  };

  /** Of a number from 0 to 2^53; there is room. */
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

/** Of a visit's event; more is made room for. */
const usualBytes = 256;

export interface EventBodies {
  add(event: NewBody, receivedTime: number): void;
  /** All of them, one after the other. */
  bytes(): Buffer;
  /** Where in these bytes each ends. */
  readonly ends: readonly number[];
}

/** Writes the bodies of so many events, about. */
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

/** The body of each of these events. */
export const toBodies = (events: readonly (NewBody & { readonly receivedTime: number })[]): Buffer[] => {
  const bodies = createBodies(events.length);
  for (const event of events) bodies.add(event, event.receivedTime);
  const bytes = bodies.bytes();
  return bodies.ends.map((end, nth) => bytes.subarray(bodies.ends[nth - 1] ?? 0, end));
};

/** What stands in the body of each event that has these as an attrID, or as one and its attrValue; and in few others. */
export const toSought = (texts: readonly string[]): Buffer => {
  const bytes = createBytes(usualBytes);
  for (const text of texts) bytes.putText(text);
  return bytes.written();
};

const beyondASCII = /[\x80-\xff]/;

/** Reads a body from its beginning. */
const createReader = (body: Buffer) => {
  // One for each byte: pieces of it cost little, and most texts are ASCII, which stand in it as they are.
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

/** So much of a body, from its beginning, says when the event was received. */
export const bytesOfTimes = 1 + mostBytesOfNumber;

export const readReceivedTime = (start: Buffer, eventTime: number): number =>
  readTimes(createReader(start), eventTime).receivedTime;
