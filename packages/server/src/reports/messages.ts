/** Messages between the server and the report process, which runs DuckDB. */
import type { EventFeedPage, OwnerFeedPage } from '../store/report-feed.ts';
import type { ReportQuery, ReportResult } from './queries.ts';

/** The settings of the process, sent as the first message. */
export interface EngineSettings {
  /** The absolute path of the folder for all report files; also the process's working directory. */
  readonly folder: string;
  readonly memoryBytes: number;
  readonly threads: number;
  /** The maximum number of events in a file. */
  readonly eventsPerFile: number;
  /** The nice(1) increment of the process, up to 19. */
  readonly niceness: number;
}

/**
 * The last events in an account's files. If the store's events differ, it was replaced, for example by restoring a
 * backup.
 */
export type LastEvents = Pick<EventFeedPage, 'sequence' | 'user' | 'contact' | 'eventID' | 'eventTime'> & {
  /** The range of these events: beyond < sequence ≤ through. */
  readonly beyond: number;
  readonly through: number;
};

/** The process's state for an account. */
export interface AccountState {
  /** The process has all events up to this sequence number. */
  readonly through: number;
  /** The position in the owner feed; null if nothing has been read yet. */
  readonly position: string | null;
  /** Set only if this call opened an earlier process's files. */
  readonly last: LastEvents | null;
}

/**
 * The requests that the process can execute. It executes an account's requests one at a time, except `run` and
 * `cancel`, which run concurrently.
 */
export interface EngineRequests {
  /**
   * Opens the account's files, or rechecks open ones. If any file is damaged, deletes all of them; the account is then
   * empty.
   */
  readonly open: { readonly send: { readonly account: number }; readonly receive: AccountState };
  readonly append: {
    readonly send: { readonly account: number; readonly events: EventFeedPage };
    readonly receive: undefined;
  };
  readonly owners: {
    readonly send: { readonly account: number; readonly owners: OwnerFeedPage };
    readonly receive: undefined;
  };
  /** Deletes the account's files. */
  readonly discard: { readonly send: { readonly account: number }; readonly receive: undefined };
  /** Deletes all data of an account that was deleted from the store, whether the account is open or not. */
  readonly forget: { readonly send: { readonly account: number }; readonly receive: undefined };
  /** Rewrites the files that contain erased events, without those events. */
  readonly purge: { readonly send: { readonly account: number }; readonly receive: undefined };
  /** Returns null if the files were damaged in the meantime and must be rebuilt. */
  readonly run: { readonly send: { readonly query: ReportQuery }; readonly receive: ReportResult<ReportQuery> | null };
  /** Writes the events that are only in memory, unless there are few, and exits the process. */
  readonly end: { readonly send: Record<never, never>; readonly receive: undefined };
}
export type RequestName = keyof EngineRequests;

export type EngineRequest =
  | { [Name in RequestName]: { readonly id: number; readonly do: Name } & EngineRequests[Name]['send'] }[RequestName]
  /** Interrupts the query that this `run` started. */
  | { readonly id: number; readonly do: 'cancel' };

export type Reply =
  /** The process can't run: DuckDB can't be loaded, or another server uses the folder. */
  | { readonly missing: string }
  /** The process is about to exit. */
  | { readonly ends: true }
  /** The account is not open, so the process has no state for it. */
  | { readonly id: number; readonly forgotten: true }
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: string };
