/** The client's response types, with times as strings or Dates. */
import type { OperationName, ResponseOf } from '@firsthand/contract/operations';

/** The names of the fields in responses that contain times. No other field has such a name. */
type TimeName = `${string}Time` | 'from' | 'to';
const isTimeName = (name: string): name is TimeName => name.endsWith('Time') || name === 'from' || name === 'to';

/** A response in which every time is a Date. */
export type WithDates<Value> = Value extends readonly (infer Entry)[]
  ? WithDates<Entry>[]
  : Value extends object
    ? { [Name in keyof Value]: Name extends TimeName ? Date | Extract<Value[Name], undefined> : WithDates<Value[Name]> }
    : Value;

/** An operation's response. With `dates`, times are Dates; otherwise, they are ISO 8601 in UTC, with milliseconds. */
export type ResponseFor<Name extends OperationName, Dates extends boolean = false> = Dates extends true
  ? WithDates<ResponseOf<Name>>
  : ResponseOf<Name>;

/** Parses JSON; returns undefined if it is invalid. With `dates`, times become Dates. */
export const parseJSON = (text: string, dates = false): unknown => {
  try {
    return dates
      ? JSON.parse(text, (name, value) => (typeof value === 'string' && isTimeName(name) ? new Date(value) : value))
      : JSON.parse(text);
  } catch {
    return undefined;
  }
};
