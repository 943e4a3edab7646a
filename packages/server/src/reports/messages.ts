/** Messages between the server and the process that runs DuckDB. */
import type { FedEvents, FedOwners } from '../store/report-feed.ts';
import type { Question, Reported } from './questions.ts';

/** The settings of the process, in its first message. */
export interface EngineSettings {
  /** Absolute: all files of reports lie below it. It is the process's current folder. */
  readonly folder: string;
  readonly memoryBytes: number;
  readonly threads: number;
  /** How many events a file holds when it is full. */
  readonly eventsOfFile: number;
  /** By how much the process's priority is below that of the server, up to 19 (nice(1)). */
  readonly niceness: number;
}

/** The last events in an account's files. They must be those of the store, else the store is another one: a restored backup. */
export type LastEvents = Pick<FedEvents, 'sequence' | 'user' | 'contact' | 'eventID' | 'eventTime'> & {
  /** They are all events with beyond < sequence ≤ through. */
  readonly beyond: number;
  readonly through: number;
};

/** What the process holds of an account. */
export interface Held {
  /** Events up to this sequence. */
  readonly through: number;
  /** Owners as of this position; null: nothing was read of the account. */
  readonly position: string | null;
  /** Present when files of an earlier process were opened by this call. */
  readonly last: LastEvents | null;
}

/** What the process does. Orders for one account are carried out one after the other, except `ask` and `cancel`. */
export interface Orders {
  /** Opens the account's files, or checks them again. Damaged files are deleted, and the account is empty then. */
  readonly open: { readonly send: { readonly account: number }; readonly receive: Held };
  readonly append: {
    readonly send: { readonly account: number; readonly events: FedEvents };
    readonly receive: undefined;
  };
  readonly owners: {
    readonly send: { readonly account: number; readonly owners: FedOwners };
    readonly receive: undefined;
  };
  /** Deletes the account's files. */
  readonly discard: { readonly send: { readonly account: number }; readonly receive: undefined };
  /** Deletes all that there is of an account that the store has deleted, open or not. */
  readonly forget: { readonly send: { readonly account: number }; readonly receive: undefined };
  /** Writes the files that hold erased events again, without them. */
  readonly purge: { readonly send: { readonly account: number }; readonly receive: undefined };
  /** Null: the files were damaged meanwhile and have to be built again. */
  readonly ask: { readonly send: { readonly question: Question }; readonly receive: Reported<Question> | null };
  /** Writes what is only in memory, as far as that is worth a file, and ends the process. */
  readonly end: { readonly send: Record<never, never>; readonly receive: undefined };
}
export type OrderName = keyof Orders;

export type Order =
  | { [Name in OrderName]: { readonly id: number; readonly do: Name } & Orders[Name]['send'] }[OrderName]
  /** Interrupts the query of that `ask`. */
  | { readonly id: number; readonly do: 'cancel' };

export type Reply =
  /** The process can't do its work: DuckDB can't be loaded, or the folder is another one's. */
  | { readonly missing: string }
  /** The process ends, and with it what it knows. */
  | { readonly ends: true }
  /** The account is not open: what the process knew of it is gone. */
  | { readonly id: number; readonly forgotten: true }
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: string };
