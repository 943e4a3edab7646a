/**
 * The body of an event: one bytea for the values that are returned but not indexed. This keeps the row at eight
 * columns, beyond which PostgreSQL's row header takes 8 more bytes.
 *
 * - a byte of flags; the time between the event and its receipt, in milliseconds
 * - the length of the eventUUID in a byte, and its characters, 6 bits each (the alphabet of base64url)
 * - attrID, attrValue, attrID, attrValue …: each as its length in bytes, and UTF-8
 *
 * Times and text lengths are little-endian base-128 varints; the high bit marks that more bytes follow.
 */
import { robotMark } from '@firsthand/contract/identifiers';
import type { EventRow } from '../../rules/event-row.ts';

const timeReplacedFlag = 1;
/** eventTime is after receivedTime. */
const aheadFlag = 2;

/**
 * The values of a new event. Its strings contain no lone surrogates (fields.ts in the contract), which UTF-8 cannot
 * encode.
 */
export interface NewBody extends Pick<EventRow, 'eventTime' | 'eventUUID' | 'attributes'> {
  readonly timeReplaced: boolean | 0 | 1;
}

type EventBody = Pick<EventRow, 'receivedTime' | 'timeReplaced' | 'eventUUID' | 'attributes'>;

/**
 * A string of up to this many UTF-16 code units takes fewer than 128 bytes in UTF-8, so its length fits in one byte.
 */
const shortText = 42;
const maxBytesPerUnit = 3;
const maxBytesPerNumber = 8;

/** The characters of base64url. Node's decoder skips all others. */
const base64url = /^[\w-]*$/;
const bytesOfUUID = (characters: number): number => Math.ceil((characters * 6) / 8);

/** A growing buffer. `expected` is its approximate size in bytes. */
const createByteWriter = (expected: number) => {
  let bytes = Buffer.allocUnsafe(expected);
  let end = 0;

  const reserve = (more: number) => {
    if (end + more <= bytes.length) return;
    const longer = Buffer.allocUnsafe(Math.max(2 * bytes.length, end + more));
    bytes.copy(longer, 0, 0, end);
    bytes = longer;
  };

  /** Writes a number from 0 to 2^53. The caller must have reserved the bytes. */
  const putNumber = (number: number) => {
    let rest = number;
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes[end++] = (rest % 128) + 128;
    bytes[end++] = rest;
  };

  return {
    end: () => end,
    written: () => bytes.subarray(0, end),

    putTimes(receivedTime: number, { eventTime, timeReplaced }: NewBody) {
      reserve(1 + maxBytesPerNumber);
      const ahead = eventTime > receivedTime;
      bytes[end++] = (timeReplaced ? timeReplacedFlag : 0) + (ahead ? aheadFlag : 0);
      putNumber(ahead ? eventTime - receivedTime : receivedTime - eventTime);
    },

    putUUID(uuid: string) {
      if (!base64url.test(uuid)) throw new Error('the eventUUID contains a character that is not allowed');
      const length = bytesOfUUID(uuid.length);
      reserve(1 + length);
      bytes[end++] = uuid.length;
      // The decoder drops an incomplete byte, so an A pads the last one with zeros.
      end += bytes.write(uuid.length % 4 === 0 ? uuid : `${uuid}A`, end, length, 'base64url');
    },

    putText(text: string) {
      const { length } = text;
      reserve(maxBytesPerNumber + maxBytesPerUnit * length);
      if (length > shortText) putNumber(Buffer.byteLength(text));
      else end += 1;
      const start = end;
      end += bytes.write(text, start);
      if (length <= shortText) bytes[start - 1] = end - start;
    },
  };
};

/** The typical size of a body; buffers grow for larger ones. */
const usualBytes = 256;

/** Creates a writer for the bodies of about `expected` events. */
export const createBodies = (expected: number) => {
  const bytes = createByteWriter(expected * usualBytes);
  const ends: number[] = [];
  return {
    add(event: NewBody, receivedTime: number): void {
      bytes.putTimes(receivedTime, event);
      bytes.putUUID(event.eventUUID);
      for (const [attrID, attrValue] of event.attributes) {
        bytes.putText(attrID);
        bytes.putText(attrValue);
      }
      ends.push(bytes.end());
    },
    /** Returns all bodies, concatenated. */
    bytes: bytes.written,
    /** The end of each body in these bytes. */
    ends: ends as readonly number[],
  };
};

/** Returns each event's body. */
export const toBodies = (events: readonly (NewBody & { readonly receivedTime: number })[]): Buffer[] => {
  const bodies = createBodies(events.length);
  for (const event of events) bodies.add(event, event.receivedTime);
  const bytes = bodies.bytes();
  return bodies.ends.map((end, nth) => bytes.subarray(bodies.ends[nth - 1] ?? 0, end));
};

/**
 * Returns bytes that occur in the body of every event with this attrID, or with this attrID and attrValue, and in few
 * other bodies.
 */
export const toSearchBytes = (attrID: string, attrValue?: string): Buffer => {
  const bytes = createByteWriter(usualBytes);
  bytes.putText(attrID);
  if (attrValue !== undefined) bytes.putText(attrValue);
  return bytes.written();
};

/** Whether an event has an attribute with this value or, without a value, has the attribute at all. */
export const hasAttribute = (
  { attributes }: Pick<EventBody, 'attributes'>,
  attrID: string,
  attrValue?: string,
): boolean => attributes.some(([id, value]) => id === attrID && (attrValue === undefined || value === attrValue));

export const robotSearchBytes = toSearchBytes(robotMark.attrID, robotMark.attrValue);

export const isRobot = (body: Pick<EventBody, 'attributes'>): boolean =>
  hasAttribute(body, robotMark.attrID, robotMark.attrValue);

const beyondASCII = /[\x80-\xff]/;

/** Creates a reader of a body, whose values must be read in their order. */
const createReader = (body: Buffer) => {
  // Decodes one character per byte: slices of this string are cheap, and ASCII text, the usual case, needs no further
  // decoding.
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
    isAtEnd: () => at === characters.length,

    times(eventTime: number): Pick<EventBody, 'receivedTime' | 'timeReplaced'> {
      const flags = byte();
      const distance = number();
      return {
        receivedTime: (flags & aheadFlag) === 0 ? eventTime + distance : eventTime - distance,
        timeReplaced: (flags & timeReplacedFlag) === 0 ? 0 : 1,
      };
    },

    uuid(): string {
      const length = byte();
      const start = at;
      at += bytesOfUUID(length);
      return body.toString('base64url', start, at).slice(0, length);
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

export const readBody = (body: Buffer, eventTime: number): EventBody => {
  const reader = createReader(body);
  const { receivedTime, timeReplaced } = reader.times(eventTime);
  const eventUUID = reader.uuid();
  const attributes: [attrID: string, attrValue: string][] = [];
  while (!reader.isAtEnd()) attributes.push([reader.text(), reader.text()]);
  return { receivedTime, timeReplaced, eventUUID, attributes };
};

/** The number of leading bytes of a body that suffice to read the received time. */
export const maxTimesBytes = 1 + maxBytesPerNumber;

export const readReceivedTime = (start: Buffer, eventTime: number): number =>
  createReader(start).times(eventTime).receivedTime;
