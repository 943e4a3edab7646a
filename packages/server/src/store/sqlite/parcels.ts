/**
 * The calls of a process that does not write itself, on their way to the thread that does, and what became of them on the way
 * back. Whoever passes them on does not look into them.
 */
import { deserialize, serialize } from 'node:v8';
import type { Parcel } from '../several.ts';
import type { Call } from './calls.ts';
import { fromFlat, fromFlatAnswer, type PlainOutcome, toFlat, toFlatAnswer } from './messages.ts';

/** With a buffer of its own, which can be handed to another thread. */
const pack = (value: unknown): Parcel => {
  const bytes = serialize(value);
  return new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);
};

export const packCalls = (calls: readonly Call[]): Parcel => pack(calls.map(toFlat));

export const unpackCalls = (parcel: Parcel): Call[] => (deserialize(parcel) as Call[]).map(fromFlat);

/** One outcome for each of the calls. */
export const packOutcomes = (calls: readonly Call[], outcomes: readonly PlainOutcome[]): Parcel =>
  pack(outcomes.map((outcome, index) => toFlatAnswer(calls[index] as Call, outcome)));

export const unpackOutcomes = (calls: readonly Call[], parcel: Parcel): PlainOutcome[] =>
  (deserialize(parcel) as PlainOutcome[]).map((outcome, index) => fromFlatAnswer(calls[index] as Call, outcome));
