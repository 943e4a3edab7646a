/** What the first process and a worker tell each other, beside the writes of the store. */
import type { Config } from '../config.ts';
import type { Counted } from '../http/rate-limits.ts';

/** What a worker is to do. */
export interface Opening {
  /** Its number, from 1. */
  readonly worker: number;
  readonly config: Omit<Config, 'operatorToken'>;
  /** Least important lines to log. */
  readonly logLevel: string;
  readonly demo: boolean;
}

/** What is counted for all workers together. The network is not hashed yet: only the first process has the key. */
export type Ask =
  | { readonly count: 'call'; readonly network: string; readonly counted: Counted }
  | { readonly count: 'guess' | 'no guess' | 'sender'; readonly network: string }
  | { readonly count: 'stream' | 'end of stream'; readonly account: number }
  | { readonly count: 'clock'; readonly browser: string; readonly lateMilliseconds: number };

/** Nothing, or a number: a sender's, or a browser's clock error; or too much, and after how many seconds to try again. */
export type Counts = undefined | number | { readonly retryAfterSeconds: number };

export type ToWorker =
  | { readonly open: Opening }
  /** Of one message's asks; in the order in which those were sent. */
  | { readonly counts: readonly Counts[] }
  | { readonly committed: true }
  /** What it knows of tokens. */
  | { readonly forget: true }
  | { readonly ping: true };

export type ToFirst =
  | { readonly ready: true }
  /** It can't do what it is to do. */
  | { readonly failed: string }
  | { readonly asks: readonly Ask[] }
  /** Whether it wants to be told of commits. */
  | { readonly hears: boolean }
  /** Connections that it was handed so far, and those that it has. */
  | { readonly taken: number; readonly open: number }
  | { readonly pong: true }
  | { readonly forgotten: true }
  /** All is answered but so many requests. */
  | { readonly stopped: number };

/** Through Node's own channel, behind the connections that were handed over before: answer what is under way, and end. */
export interface Stop {
  readonly stopWithinMs: number;
}
