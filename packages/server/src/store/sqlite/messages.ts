/** What passes between the threads of a store. Errors travel as plain objects: a clone of one loses its class. */
import type { MessagePort } from 'node:worker_threads';
import { Refusal } from '../../refusal.ts';
import type { Parcel } from '../several.ts';
import type { EventBatch, EventOutcome, EventPage } from '../store.ts';
import type { Arrangement } from './arrangement.ts';
import type { Call } from './calls.ts';
import {
  type FlatEvents,
  type FlatOutcome,
  fromFlatEvents,
  fromFlatOutcome,
  fromFlatPage,
  toFlatEvents,
  toFlatOutcome,
  toFlatPage,
} from './flat-events.ts';
import type { Outcome } from './transaction.ts';

/** What a thread has of the main one. */
export type Port = Pick<MessagePort, 'on' | 'postMessage' | 'close'>;

/** The first message: the database to open. */
export interface Opening {
  readonly path: string;
  readonly arrangement?: Arrangement | undefined;
}

/** With its calls flat. */
export interface Request {
  readonly id: number;
  readonly calls: readonly Call[];
}

/** To the thread that writes: calls of other processes. */
export interface ParcelsRequest {
  readonly id: number;
  readonly parcels: readonly Parcel[];
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

/** What became of a call: flat, for logEvents and for a page of events. */
export const toFlatAnswer = ({ name }: Call, outcome: PlainOutcome): PlainOutcome => {
  if (!('value' in outcome)) return outcome;
  if (name === ofEvents) return { value: (outcome.value as EventOutcome[]).map(toFlatOutcome) };
  if (name === ofPage) return { value: toFlatPage(outcome.value as EventPage) };
  return outcome;
};

/** The reverse. */
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

export interface ParcelsAnswer {
  readonly id: number;
  readonly parcels: readonly Parcel[];
}

/**
 * `ready`: the database is open. `fatal`: it can't be opened, or nothing that was asked since is known to be kept, and
 * nothing more will be.
 */
export type Reply = { readonly ready: true } | Answer | ParcelsAnswer | { readonly fatal: string };

/** What is told of an error on another thread: a clone keeps neither its class nor its code. */
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

/** The value, or throws what was thrown on the other thread. */
export const fromPlain = (outcome: PlainOutcome): unknown => {
  if ('value' in outcome) return outcome.value;
  if ('fault' in outcome) throw toError(outcome.fault);
  const [code, { cause, ...options } = {}] = outcome.refusal;
  throw new Refusal(code, cause === undefined ? options : { ...options, cause: toError(cause as PlainError) });
};
