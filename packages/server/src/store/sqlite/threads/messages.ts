/** Messages between a store's threads. Errors are sent as plain objects, because a clone loses the class. */
import type { MessagePort } from 'node:worker_threads';
import { Refusal } from '../../../shared/refusal.ts';
import type { EventBatch, EventOutcome, EventPage } from '../../store.ts';
import type { Call } from '../calls.ts';
import type { Outcome } from '../transactions/transaction.ts';
import type { Tuning } from '../tuning.ts';
import {
  type FlatEvents,
  type FlatOutcome,
  fromFlatEvents,
  fromFlatOutcome,
  fromFlatPage,
  toFlatEvents,
  toFlatOutcome,
  toFlatPage,
} from './event-codec.ts';

/** A thread's port to the main thread. */
export type Port = Pick<MessagePort, 'on' | 'postMessage' | 'close'>;

/** The database that a thread opens. */
export interface Opening {
  readonly path: string;
  readonly tuning?: Tuning | undefined;
}

/** A message to a thread. Its calls are flat (event-codec.ts). */
export interface Request {
  readonly id: number;
  readonly calls: readonly Call[];
}

export type PlainOutcome =
  | { readonly value: unknown }
  | { readonly refusal: ConstructorParameters<typeof Refusal> }
  | { readonly fault: PlainError };

const ofEvents = 'logEvents';
const ofPage = 'getEvents';

export const toFlat = (call: Call): Call =>
  call.name === ofEvents ? { name: ofEvents, request: toFlatEvents(call.request as EventBatch) } : call;

export const fromFlat = (call: Call): Call =>
  call.name === ofEvents ? { name: ofEvents, request: fromFlatEvents(call.request as FlatEvents) } : call;

const toFlatValue = ({ name }: Call, value: unknown): unknown => {
  if (name === ofEvents) return (value as EventOutcome[]).map(toFlatOutcome);
  return name === ofPage ? toFlatPage(value as EventPage) : value;
};

const fromFlatValue = ({ name }: Call, value: unknown): unknown => {
  if (name === ofEvents) return (value as FlatOutcome[]).map(fromFlatOutcome);
  return name === ofPage ? fromFlatPage(value as FlatEvents) : value;
};

/**
 * `ready`: the database is open. `fatal`: the database can't be opened, or the outcome of calls without a reply is
 * unknown; the thread executes no more calls. `seconds` is the commit's duration, and `statementSeconds` the part of it
 * that COMMIT takes.
 */
export type Reply =
  | { readonly ready: true }
  | { readonly id: number; readonly outcomes: readonly PlainOutcome[] }
  | {
      readonly id: number;
      readonly outcomes: readonly PlainOutcome[];
      readonly seconds: number;
      readonly statementSeconds: number;
    }
  | { readonly fatal: string };

/** The parts of an error that are sent, because a clone loses the error's class and code. */
interface PlainError {
  readonly message: string;
  readonly stack: string | undefined;
  readonly code: unknown;
}

const toPlainError = (error: Error): PlainError => {
  const { message, stack, code } = error as Error & { code?: unknown };
  return { message, stack, code };
};

const toError = ({ message, stack, code }: PlainError): Error => Object.assign(new Error(message), { stack, code });

/** Converts an outcome for sending. */
export const toPlain = (call: Call, outcome: Outcome): PlainOutcome => {
  if ('value' in outcome) return { value: toFlatValue(call, outcome.value) };
  const { error } = outcome;
  if (!(error instanceof Refusal)) return { fault: toPlainError(error as Error) };
  const { code, field, message, retryAfterSeconds, cause } = error;
  return {
    refusal: [
      code,
      {
        message,
        ...(field !== undefined && { field }),
        ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
        ...(cause instanceof Error && { cause: toPlainError(cause) }),
      },
    ],
  };
};

/** The reverse of `toPlain`. */
export const fromPlain = (call: Call, outcome: PlainOutcome): Outcome => {
  if ('value' in outcome) return { value: fromFlatValue(call, outcome.value) };
  if ('fault' in outcome) return { error: toError(outcome.fault) };
  const [code, { cause, ...options } = {}] = outcome.refusal;
  return {
    error: new Refusal(code, cause === undefined ? options : { ...options, cause: toError(cause as PlainError) }),
  };
};
