/**
 * The JSON format of a block of events: an object with a column per field. Values shared by all events and repeated
 * attribute values (`words`) are stored once, and growing numbers are stored relative to the first.
 *
 * An event takes about half the space of a row, and `JSON.parse` is faster than reading rows in SQLite. The view
 * `event` shows the events as rows.
 */
import { robotMark } from '@firsthand/contract/identifiers';
import type { EventRow } from '../../rules/event-row.ts';
import type { SentByServer } from '../../rules/idempotency-keys.ts';

export type { EventRow };

/** The fields that determine whether an event is selected. */
export type EventFacts = Pick<EventRow, 'sequence' | 'account' | 'user' | 'contact' | 'eventID'>;

/** One value for all events, or a list with one per event. */
type Column<Value> = Value | readonly Value[];

/** Mostly growing numbers: the first number, and either a constant step or each number's distance from the first. */
interface Growing {
  readonly from: number;
  readonly by: Column<number>;
}

export interface EventBlock {
  readonly sequence: Growing;
  readonly day: Column<number>;
  readonly account: Column<number>;
  readonly user: Column<number | null>;
  readonly contact: Column<number | null>;
  readonly eventID: Column<number>;
  /** The common prefix of all eventUUIDs, usually their time; undefined: none. */
  readonly eventUUIDStart?: string | undefined;
  /** The eventUUIDs without the prefix. */
  readonly eventUUID: readonly string[];
  readonly receivedTime: Growing;
  /** receivedTime minus eventTime. */
  readonly age: Column<number> | Growing;
  readonly timeReplaced: Column<0 | 1>;
  /** Undefined in a block from before the token kind was stored. */
  readonly server?: Column<SentByServer> | undefined;
  /** The distinct lists of attrIDs. `named` has the index of each event's list. */
  readonly names: readonly (readonly string[])[];
  readonly named: Column<number>;
  /** The attrValues of all events, in order: text, or an index into `words`. */
  readonly values: readonly (string | number)[];
  readonly words: readonly string[];
}

const toColumn = <Value>(values: readonly Value[]): Column<Value> =>
  values.every((value) => value === values[0]) ? (values[0] as Value) : values;

const at = <Value>(column: Column<Value>, index: number): Value =>
  Array.isArray(column) ? (column[index] as Value) : (column as Value);

const toGrowing = (values: readonly number[]): Growing => {
  const from = values[0] as number;
  const by = values.length > 1 ? (values[1] as number) - from : 0;
  if (values.every((value, index) => value === from + index * by)) return { from, by };
  return { from, by: values.map((value) => value - from) };
};

/** An age below this limit takes as few digits as its difference from another age. */
const longAgoMilliseconds = 60_000;

const toAges = (ages: readonly number[]): Column<number> | Growing =>
  Math.abs(ages[0] as number) < longAgoMilliseconds ? toColumn(ages) : toGrowing(ages);

const isGrowing = (ages: Column<number> | Growing): ages is Growing => typeof ages === 'object' && 'from' in ages;

/** Returns the common prefix of several strings; undefined if it is empty or there are fewer than two strings. */
const commonPrefix = (texts: readonly string[]): string | undefined => {
  const [first = '', ...others] = texts;
  if (others.length === 0) return undefined;
  let { length } = first;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length -= 1;
  return length > 0 ? first.slice(0, length) : undefined;
};

const growingAt = ({ from, by }: Growing, index: number): number =>
  from + (typeof by === 'number' ? index * by : (by[index] as number));

/** Returns the distinct lists of attrIDs, and the index of each event's list. */
const toNames = (events: readonly EventRow[]): Pick<EventBlock, 'named' | 'names'> => {
  const names: (readonly string[])[] = [];
  const numbers = new Map<string, number>();
  const named = events.map(({ attributes }) => {
    const attrIDs = attributes.map(([attrID]) => attrID);
    const key = attrIDs.join('\0');
    const number = numbers.get(key) ?? names.push(attrIDs) - 1;
    numbers.set(key, number);
    return number;
  });
  return { named: toColumn(named), names };
};

/** Returns the values that occur more than once, with their indexes. A unique value is shorter in place. */
const findWords = (events: readonly EventRow[]): Map<string, number> => {
  const words = new Map<string, number>();
  const seenValues = new Set<string>();
  for (const { attributes } of events) {
    for (const [, value] of attributes) {
      if (!seenValues.has(value)) seenValues.add(value);
      else if (!words.has(value)) words.set(value, words.size);
    }
  }
  return words;
};

/** `events` has at least one event, ascending by sequence. */
export const toBlock = (events: readonly EventRow[]): EventBlock => {
  const words = findWords(events);
  const eventUUIDStart = commonPrefix(events.map(({ eventUUID }) => eventUUID));
  return {
    sequence: toGrowing(events.map(({ sequence }) => sequence)),
    day: toColumn(events.map(({ day }) => day)),
    account: toColumn(events.map(({ account }) => account)),
    user: toColumn(events.map(({ user }) => user)),
    contact: toColumn(events.map(({ contact }) => contact)),
    eventID: toColumn(events.map(({ eventID }) => eventID)),
    eventUUIDStart,
    eventUUID: events.map(({ eventUUID }) => eventUUID.slice(eventUUIDStart?.length ?? 0)),
    receivedTime: toGrowing(events.map(({ receivedTime }) => receivedTime)),
    age: toAges(events.map(({ receivedTime, eventTime }) => receivedTime - eventTime)),
    timeReplaced: toColumn(events.map(({ timeReplaced }) => timeReplaced)),
    server: toColumn(events.map(({ server }) => server)),
    ...toNames(events),
    values: events.flatMap(({ attributes }) => attributes.map(([, value]) => words.get(value) ?? value)),
    words: [...words.keys()],
  };
};

export const sizeOf = ({ eventUUID }: EventBlock): number => eventUUID.length;
export const sequenceAt = ({ sequence }: EventBlock, index: number): number => growingAt(sequence, index);
export const factsAt = (block: EventBlock, index: number): EventFacts => ({
  sequence: sequenceAt(block, index),
  account: at(block.account, index),
  user: at(block.user, index),
  contact: at(block.contact, index),
  eventID: at(block.eventID, index),
});
export const receivedTimeAt = ({ receivedTime }: EventBlock, index: number): number => growingAt(receivedTime, index);
const ageAt = ({ age }: EventBlock, index: number): number => (isGrowing(age) ? growingAt(age, index) : at(age, index));
export const eventTimeAt = (block: EventBlock, index: number): number =>
  receivedTimeAt(block, index) - ageAt(block, index);

const namesAt = ({ names, named }: EventBlock, index: number) => names[at(named, index)] as readonly string[];

/** The index in `values` where each event starts, computed once per block. */
const starts = new WeakMap<EventBlock, readonly number[]>();
const startsOf = (block: EventBlock): readonly number[] => {
  const cached = starts.get(block);
  if (cached) return cached;
  const indexes: number[] = [];
  let from = 0;
  for (let index = 0; index < sizeOf(block); index += 1) {
    indexes.push(from);
    from += namesAt(block, index).length;
  }
  starts.set(block, indexes);
  return indexes;
};

const valueAt = ({ values, words }: EventBlock, at: number): string => {
  const value = values[at] as string | number;
  return typeof value === 'number' ? (words[value] as string) : value;
};

export const attributesAt = (block: EventBlock, index: number): EventRow['attributes'] => {
  const from = startsOf(block)[index] as number;
  return namesAt(block, index).map((attrID, nth) => [attrID, valueAt(block, from + nth)]);
};

/** Calls `visit` for each attribute of each event, in order, without allocating lists. */
export const visitAttributes = (
  block: EventBlock,
  visit: (index: number, attrID: string, attrValue: string) => void,
): void => {
  let at = 0;
  for (let index = 0; index < sizeOf(block); index += 1) {
    for (const attrID of namesAt(block, index)) {
      visit(index, attrID, valueAt(block, at));
      at += 1;
    }
  }
};

const pick = <Value>(column: Column<Value>, indexes: readonly number[]): Column<Value> =>
  Array.isArray(column) ? indexes.map((index) => column[index] as Value) : column;

const pickGrowing = (growing: Growing, indexes: readonly number[]): Growing =>
  toGrowing(indexes.map((index) => growingAt(growing, index)));

/**
 * Reduces a block to the given events, of which there must be at least one. Keeps nothing that only the removed events
 * contained. This is twice as fast as rebuilding the block from its events.
 */
export const pickEvents = (block: EventBlock, indexes: readonly number[]): EventBlock => {
  const values = indexes.flatMap((index) => {
    const from = startsOf(block)[index] as number;
    return block.values.slice(from, from + namesAt(block, index).length);
  });
  const namesKept = new Set(indexes.map((index) => at(block.named, index)));
  const wordsKept = new Set(values.filter((value) => typeof value === 'number'));
  return {
    sequence: pickGrowing(block.sequence, indexes),
    day: pick(block.day, indexes),
    account: pick(block.account, indexes),
    user: pick(block.user, indexes),
    contact: pick(block.contact, indexes),
    eventID: pick(block.eventID, indexes),
    eventUUIDStart: block.eventUUIDStart,
    eventUUID: indexes.map((index) => block.eventUUID[index] as string),
    receivedTime: pickGrowing(block.receivedTime, indexes),
    age: isGrowing(block.age) ? pickGrowing(block.age, indexes) : pick(block.age, indexes),
    timeReplaced: pick(block.timeReplaced, indexes),
    server: block.server === undefined ? undefined : pick(block.server, indexes),
    named: pick(block.named, indexes),
    // Replaces removed entries with empty ones, so that the other entries keep their indexes.
    names: block.names.map((attrIDs, nth) => (namesKept.has(nth) ? attrIDs : [])),
    values,
    words: block.words.map((word, nth) => (wordsKept.has(nth) ? word : '')),
  };
};

/** Whether an event has an attribute: with `attrValue` if it is given, otherwise with any value. */
export const hasAttribute = (block: EventBlock, index: number, attrID: string, attrValue?: string): boolean => {
  const nth = namesAt(block, index).indexOf(attrID);
  if (nth < 0) return false;
  return attrValue === undefined || valueAt(block, (startsOf(block)[index] as number) + nth) === attrValue;
};

/** Whether an event has the bot mark. */
export const isRobot = (block: EventBlock, index: number): boolean =>
  hasAttribute(block, index, robotMark.attrID, robotMark.attrValue);

// Lists all fields, because spreading the result of `factsAt` takes ten times as long.
export const eventAt = (block: EventBlock, index: number): EventRow => ({
  sequence: sequenceAt(block, index),
  day: at(block.day, index),
  account: at(block.account, index),
  user: at(block.user, index),
  contact: at(block.contact, index),
  eventID: at(block.eventID, index),
  eventUUID: (block.eventUUIDStart ?? '') + block.eventUUID[index],
  eventTime: eventTimeAt(block, index),
  receivedTime: receivedTimeAt(block, index),
  timeReplaced: at(block.timeReplaced, index),
  server: at(block.server ?? null, index),
  attributes: attributesAt(block, index),
});

export const eventsOf = (block: EventBlock): EventRow[] => block.eventUUID.map((_, index) => eventAt(block, index));
