/** Messages between the threads of a store. Errors travel as plain objects: a clone of an error loses its class. */
import type { MessagePort } from 'node:worker_threads';
import { Refusal } from '../../../refusal.ts';
import type { EventBatch, EventOutcome, EventPage } from '../../store.ts';
import type { Arrangement } from '../arrangement.ts';
import type { Call } from '../calls.ts';
import type { Outcome } from '../transactions/transaction.ts';
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
  readonly arrangement?: Arrangement | undefined;
}

/** Its calls are in flat form. */
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

/** The outcome of a call in flat form; only those of logEvents and getEvents change. */
export const toFlatAnswer = ({ name }: Call, outcome: PlainOutcome): PlainOutcome => {
  if (!('value' in outcome)) return outcome;
  if (name === ofEvents) return { value: (outcome.value as EventOutcome[]).map(toFlatOutcome) };
  if (name === ofPage) return { value: toFlatPage(outcome.value as EventPage) };
  return outcome;
};

/** The reverse of `toFlatAnswer`. */
export const fromFlatAnswer = ({ name }: Call, outcome: PlainOutcome): PlainOutcome => {
  if (!('value' in outcome)) return outcome;
  if (name === ofEvents) return { value: (outcome.value as FlatOutcome[]).map(fromFlatOutcome) };
  if (name === ofPage) return { value: fromFlatPage(outcome.value as FlatEvents) };
  return outcome;
};

export interface Answer {
  readonly id: number;
  readonly outcomes: readonly PlainOutcome[];
}

/**
 * `ready`: the database is open. `fatal`: the database can't be opened; or the outcome of the calls without a reply is unknown, and
 * no further calls are carried out.
 */
export type Reply = { readonly ready: true } | Answer | { readonly fatal: string };

/** The parts of an error that pass between threads: a clone keeps neither its class nor its code. */
interface PlainError {
  readonly message: string;
  readonly stack: string | undefined;
  readonly code: unknown;
}

const plainError = (error: Error): PlainError => {
  const { message, stack, code } = error as Error & { code?: unknown };
  return { message, stack, code };
};

const toError = ({ message, stack, code }: PlainError): Error => Object.assign(new Error(message), { stack, code });

export const toPlain = (outcome: Outcome): PlainOutcome => {
  if ('value' in outcome) return outcome;
  const { error } = outcome;
  if (error instanceof Refusal) {
    const { code, field, message, retryAfterSeconds, cause } = error;
    return {
      refusal: [
        code,
        {
          message,
          ...(field !== undefined && { field }),
          ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
          ...(cause instanceof Error && { cause: plainError(cause) }),
        },
      ],
    };
  }
  return { fault: plainError(error as Error) };
};

/** Returns the value, or throws the error that was thrown on the other thread. */
export const fromPlain = (outcome: PlainOutcome): unknown => {
  if ('value' in outcome) return outcome.value;
  if ('fault' in outcome) throw toError(outcome.fault);
  const [code, { cause, ...options } = {}] = outcome.refusal;
  throw new Refusal(code, cause === undefined ? options : { ...options, cause: toError(cause as PlainError) });
};
