/** The queries and results of reports: plain data, with names resolved to numbers, and times in milliseconds. */

/** A condition on an event. The contract limits depth, count and lengths. */
export type Condition =
  | { readonly and: readonly Condition[] }
  | { readonly or: readonly Condition[] }
  | { readonly not: Condition }
  /**
   * Compares the attribute's value in the person's first event ever with that attribute. Events from bots are included
   * only if the query counts them.
   */
  | { readonly personFirst: Comparison }
  /** The event belongs to one of these contacts, identified by number; if null, to any contact. */
  | { readonly contacts: Float64Array | null }
  /**
   * The event's person has `atLeast` to `atMost` (null: no maximum) events that meet `did` with from ≤ eventTime < to,
   * which can be outside the query's range. Events from bots count only if the query counts them. `did` is not nested.
   */
  | {
      readonly did: Condition | null;
      readonly atLeast: number;
      readonly atMost: number | null;
      readonly from: number;
      readonly to: number;
    }
  /** The event has one of these eventIDs. */
  | { readonly eventIDs: readonly number[] }
  | Comparison;

/** A comparison with the value of an event's attribute. */
export type Comparison =
  /** The value equals one of these strings. */
  | { readonly attrID: string; readonly is: readonly string[] }
  /** The value contains the text (case-sensitive). */
  | { readonly attrID: string; readonly contains: string }
  /** The whole value matches the pattern (case-sensitive), in which `*` stands for any text. */
  | { readonly attrID: string; readonly matches: string }
  | { readonly attrID: string; readonly exists: boolean }
  /** The value is a decimal number (`decimalNumber`) less than or greater than this number. */
  | { readonly attrID: string; readonly below: number }
  | { readonly attrID: string; readonly above: number };

/** Matches attribute values that count as numbers: JSON syntax, with an absolute value below `numberLimit`. */
export const decimalNumber = /^-?(0|[1-9][0-9]{0,300})(\.[0-9]{1,300})?([eE][+-]?[0-9]{1,3})?$/;
/** The bound on numbers, which keeps their sums within the range of a double. */
export const numberLimit = 1e100;

/** The pause after which a user's next event starts a new session. */
export const sessionPauseMilliseconds = 30 * 60_000;

/** A report's events: the account's events with from ≤ eventTime < to. */
interface QueryBase {
  readonly account: number;
  readonly from: number;
  readonly to: number;
  /** Whether events from bots count. */
  readonly robots: boolean;
  readonly condition: Condition | null;
  /** Absent if no catalogue entries are merged. */
  readonly mergedIDs?: MergedIDs;
}

/**
 * Lists of IDs whose catalogue entries were merged. The first ID in a list is the target, under which events are
 * grouped. An attribute's value is the value of the first ID in the list that the event has. Conditions on events
 * already list all IDs.
 */
export interface MergedIDs {
  readonly events: readonly (readonly number[])[];
  readonly attributes: readonly (readonly string[])[];
}

/** The measures of a set of events. Every event belongs to a person: its owner, or else its user. */
export interface Measures {
  readonly events: number;
  /** Distinct browsers. */
  readonly users: number;
  readonly people: number;
  /**
   * Sessions with at least one event in the set. A session consists of a user's events in the report's range (or,
   * without a user, the logged contact's) without a pause of sessionPauseMilliseconds between them, whether or not they
   * meet the condition.
   */
  readonly sessions: number;
  /**
   * Statistics of the attribute `value`, over the events in which it is a decimal number. Null if there are none;
   * absent without `value`.
   */
  readonly value?: {
    readonly count: number;
    readonly sum: number | null;
    readonly average: number | null;
    /** Interpolated between the two nearest values, like PostgreSQL's percentile_cont. */
    readonly median: number | null;
    readonly p95: number | null;
  };
  /**
   * Statistics of the counted sessions, over all their events in the range. Absent unless the query requests visits.
   */
  readonly visits?: {
    /** Sessions with a single event, which is a page view (has the attribute `path`). */
    readonly bounces: number;
    readonly pages: number;
    /** The sum of the sessions' durations, from first to last event. */
    readonly milliseconds: number;
  };
  /** Absent unless the query has a goal. */
  readonly conversions?: Conversions;
}

/** A goal: events that meet the condition, and the attribute with their value. */
interface Goal {
  readonly condition: Condition;
  readonly value: string | null;
}

/** Who of the measured people and sessions has a goal event in the range, whether it meets the query's condition or not. */
export interface Conversions {
  readonly people: number;
  readonly sessions: number;
  /** Statistics of the goal's attribute in the goal events of these sessions. Absent if the goal has none. */
  readonly value?: Measures['value'];
  /**
   * The milliseconds from the first event of each of these people in the range to their first goal event; null if there
   * are none. Absent in intervals.
   */
  readonly times?: Times | null;
}

export interface Times {
  readonly average: number;
  readonly median: number;
  readonly p95: number;
}

export interface TotalsQuery extends QueryBase {
  readonly report: 'totals';
  /** The attribute to sum. */
  readonly value: string | null;
  /** The boundaries of at most 1,000 intervals, in ascending order from `from` to `to`. */
  readonly edges: readonly number[];
  readonly visits?: boolean;
  readonly goal?: Goal;
}
export interface TotalsResult {
  readonly total: Measures;
  /**
   * A session counts in every interval in which it has an event. The conversions of an interval are those with a goal
   * event in that interval.
   */
  readonly intervals: readonly Measures[];
}

/** The numbers of the contacts with a value. */
export interface ContactList {
  readonly value: string;
  readonly contacts: Float64Array;
}

/**
 * The hosts of the account's sites, and suffixes that cover all hosts in a domain (`.shop.example`). Their pages are
 * not referrers.
 */
export interface OwnSites {
  readonly hosts: readonly string[];
  readonly suffixes: readonly string[];
}

/** How events are grouped. */
export type Dimension =
  | { readonly attrID: string }
  /**
   * The values of the event's contact. The event is in the group of each value, but counts once in the total and
   * `others`.
   */
  | { readonly lists: readonly ContactList[] }
  /** The eventID, as text. */
  | { readonly by: 'event' }
  /** `1` (Monday) to `7`, and `0` to `23`, in the query's time zone. */
  | { readonly by: 'weekday' | 'hour' }
  /**
   * The attribute's value in the session's first or last event that has it. `personFirst`: in the person's first event
   * ever with the attribute, which can be outside the query's range. Events from bots are included only if the query
   * counts them.
   */
  | { readonly attrID: string; readonly of: 'first' | 'last' | 'personFirst' }
  /**
   * The host in the attribute `referrer`, except the account's own sites. `entryReferrerHost`: from the session's first
   * event that has the attribute, even if empty. `firstReferrerHost`: from the person's first event that has it.
   */
  | { readonly by: 'referrerHost' | 'entryReferrerHost' | 'firstReferrerHost'; readonly own: OwnSites };

type MeasureName = 'events' | 'users' | 'people' | 'sessions';

export interface BreakdownQuery extends QueryBase {
  readonly report: 'breakdown';
  readonly value: string | null;
  /** One or two dimensions. */
  readonly dimensions: readonly Dimension[];
  /**
   * The offset of local time from UTC, in milliseconds, starting at each time. In ascending order; the first time is at
   * or before `from`.
   */
  readonly offsets: readonly (readonly [from: number, milliseconds: number])[];
  readonly sort: MeasureName;
  /** The maximum number of rows, 1 to 1,000. All other events are in `others`. */
  readonly limit: number;
  readonly visits?: boolean;
  readonly goal?: Goal;
  /** Adds `intervals` to the rows. The edges have the same form as in TotalsQuery. */
  readonly edges?: readonly number[];
  /**
   * Adds the count `among` to the total and the rows. Groups whose only events are those that meet this condition come
   * last, as rows with zeros, within the limit.
   */
  readonly among?: { readonly condition: Condition | null };
}
/** The dimensions of groups, with the local time's offsets. */
export type Grouping = Pick<BreakdownQuery, 'dimensions' | 'offsets'>;
/**
 * The measures and, if the query has `among`, the number of people with an event in the group that meets that
 * condition.
 */
type MeasuresAmong = Measures & { readonly among?: number };
export interface BreakdownResult {
  readonly total: MeasuresAmong;
  /** Sorted by the measure `sort`, descending, then by the UTF-8 bytes of the values, null last. Null: no value. */
  readonly rows: readonly (MeasuresAmong & {
    readonly values: readonly (string | null)[];
    /** The measures in each interval, without `visits` and `conversions`. */
    readonly intervals?: readonly Measures[];
  })[];
  /**
   * The measures of all events that aren't in any row, with each user and person counted once, and without `visits`
   * and `conversions`. Null if there are none.
   */
  readonly others: (Measures & { readonly groups: number }) | null;
}

export interface FunnelQuery extends QueryBase {
  readonly report: 'funnel';
  /** 2 to 8 steps. The query's `condition` applies to all steps. */
  readonly steps: readonly Condition[];
  /** The maximum time from the first step to the last. */
  readonly withinMilliseconds: number;
  /** The unit that completes the steps: a person, or a person within one session (see Measures). */
  readonly per: 'person' | 'session';
  /** The groups of the result's rows, of which there are at most `limit` (1 to 1,000). */
  readonly groups?: Grouping & { readonly limit: number };
  /** Whether the result includes `times`. */
  readonly times?: boolean;
}
/**
 * For each step after the first, the time from the first step in milliseconds; null if no person reached it. The time
 * ends at the first event that completes the step, and starts at the latest first-step event that leads to it.
 */
type StepTimes = readonly (Times | null)[];
/**
 * For each step, the number of units that completed all steps up to it, with one event for each step, each later than
 * the previous one (by eventTime, then by sequence).
 */
type StepCounts = readonly number[];
export interface FunnelResult {
  readonly steps: StepCounts;
  readonly times?: StepTimes;
  /**
   * A unit belongs to the groups of its first event that meets the first step. Sorted by the first step's count,
   * descending, then by values as in BreakdownResult. Absent unless groups were requested.
   */
  readonly rows?: readonly {
    readonly values: readonly (string | null)[];
    readonly steps: StepCounts;
    readonly times?: StepTimes;
  }[];
  /** The number of units that are in no row. Absent if there are none. */
  readonly others?: { readonly groups: number; readonly steps: StepCounts };
}

export interface RetentionQuery extends QueryBase {
  readonly report: 'retention';
  /** The events that start a cohort, and the events that count as coming back. */
  readonly first: Condition | null;
  readonly back: Condition | null;
  /** The boundaries of at most 100 periods, in the form of TotalsQuery. */
  readonly edges: readonly number[];
  /** The groups of the result's rows. */
  readonly groups?: Grouping & { readonly limit: number };
}
type Cohorts = readonly { readonly people: number; readonly back: readonly number[] }[];
export interface RetentionResult {
  /**
   * For each period, the people whose first event that meets `first` is in the period, and how many of them have a
   * later event (by eventTime, then by sequence) that meets `back` in that period, in the next period, and so on.
   */
  readonly cohorts: Cohorts;
  /**
   * A person belongs to the groups of their first event that meets `first`. Sorted by people, descending, then by
   * values as in BreakdownResult. Absent unless groups were requested.
   */
  readonly rows?: readonly { readonly values: readonly (string | null)[]; readonly cohorts: Cohorts }[];
  /** The number of groups that are in no row. Absent if there are none. */
  readonly others?: { readonly groups: number };
}

/** One group; `values` are in the order of the dimensions. */
export type Group = Grouping & { readonly values: readonly (string | null)[] };

/** The people behind a number in a report. */
export type PeopleOf =
  /** Every event that meets the condition. */
  | { readonly kind: 'all' }
  /** The events in one group of a breakdown. */
  | ({ readonly kind: 'group' } & Group)
  /**
   * The people who reached a step (0 is the first) and, if `dropped`, did not reach the next step; with `group`, in
   * that group of the funnel. If `per` is 'session', they did so in at least one session.
   */
  | ({ readonly kind: 'step'; readonly step: number; readonly dropped: boolean; readonly group?: Group } & Pick<
      FunnelQuery,
      'steps' | 'withinMilliseconds' | 'per'
    >)
  /**
   * The people of a cohort (0 is the first); with `group`, in that group. Unless `later` is null, only those who came
   * back that many periods later.
   */
  | ({
      readonly kind: 'cohort';
      readonly cohort: number;
      readonly later: number | null;
      readonly group?: Group;
    } & Pick<RetentionQuery, 'first' | 'back' | 'edges'>);

/** The order of people: by newest event, by number of events, or by the sum of the attribute `value`. */
export type PeopleSort = 'lastTime' | 'events' | 'sum';

/** A position in the list of people. */
export interface PeopleEnd {
  /** The sort key. Sums are rounded to a millionth; people whose events have no number have `noSum`. */
  readonly key: number;
  /** A contact if positive, a user without a contact if negative. */
  readonly person: number;
}

/** The sort key of people whose events have no number: less than any sum. */
export const noSum = -1e300;

export interface PeopleQuery extends QueryBase {
  readonly report: 'people';
  readonly of: PeopleOf;
  /** Returns only people with at least this many users in their matching events; 0 for all people. */
  readonly usersAtLeast: number;
  /** The attribute to sum. */
  readonly value?: string;
  /** The order of people; `lastTime` if absent. */
  readonly sort?: PeopleSort;
  readonly limit: number;
  /** The page starts after this position. Null for the first page. */
  readonly beyond: PeopleEnd | null;
  /**
   * Only events up to this sequence number count, so that later pages are consistent with the first page. Null for all
   * events.
   */
  readonly until: number | null;
}
export interface PeopleResult {
  /** Sorted by `sort`, descending. Statistics cover all of a person's events in the range that meet the condition. */
  readonly people: readonly (Pick<PeopleEnd, 'person'> &
    Pick<Measures, 'events' | 'users' | 'value'> & {
      readonly firstTime: number;
      readonly lastTime: number;
    })[];
  /** The position at the end of this page; null on the last page. */
  readonly next: PeopleEnd | null;
}

/** For each contact, the first and last values of attributes in all of its events. The range is ignored. */
export interface TouchesQuery extends QueryBase {
  readonly report: 'touches';
  /** The numbers of at most 1,000 contacts. */
  readonly contacts: readonly number[];
  readonly attributes: readonly string[];
  readonly own: OwnSites;
}
interface Touch {
  /** The eventTime of the first or last event. */
  readonly time: number;
  /** Each attribute's value in the first or last event that has it; null if no event has it. */
  readonly values: readonly (string | null)[];
  /**
   * For the first touch, as in `firstReferrerHost`; for the last touch, the last host that is not among the account's
   * own sites.
   */
  readonly referrerHost: string | null;
}
export interface TouchesResult {
  /** The contacts that have events, ascending. */
  readonly people: readonly { readonly person: number; readonly first: Touch; readonly last: Touch }[];
}

export interface LiveQuery extends QueryBase {
  readonly report: 'live';
  readonly own: OwnSites;
  /** The maximum number of rows in each list. */
  readonly limit: number;
}
/**
 * Each person counts once, under the value in their newest event (by eventTime, then by sequence) that has one; under
 * null if there is none.
 */
interface LiveList {
  /** Sorted by people, descending, then by the UTF-8 bytes of the values, null last. */
  readonly rows: readonly { readonly value: string | null; readonly people: number }[];
  /** The number of people who are in no row. */
  readonly others: number;
}
export interface LiveResult {
  readonly events: number;
  readonly users: number;
  readonly people: number;
  /** The attribute `path`. */
  readonly page: LiveList;
  readonly referrerHost: LiveList;
  /** The attribute `$country`. */
  readonly country: LiveList;
}

interface ReportTypes {
  readonly totals: { readonly query: TotalsQuery; readonly result: TotalsResult };
  readonly breakdown: { readonly query: BreakdownQuery; readonly result: BreakdownResult };
  readonly funnel: { readonly query: FunnelQuery; readonly result: FunnelResult };
  readonly retention: { readonly query: RetentionQuery; readonly result: RetentionResult };
  readonly people: { readonly query: PeopleQuery; readonly result: PeopleResult };
  readonly live: { readonly query: LiveQuery; readonly result: LiveResult };
  readonly touches: { readonly query: TouchesQuery; readonly result: TouchesResult };
}
export type ReportName = keyof ReportTypes;
export type ReportQuery = ReportTypes[ReportName]['query'];
export type ResultOf<One extends ReportQuery> = ReportTypes[One['report']]['result'];

export interface ReportResult<One extends ReportQuery> {
  readonly result: ResultOf<One>;
  /**
   * The result includes all events up to this sequence number, and all owner changes acknowledged before the report
   * began.
   */
  readonly through: number;
}
export interface RunReportOptions {
  /** Aborts when the client disconnects. */
  readonly signal?: AbortSignal | undefined;
  /** Whether the report is for a share link; members' reports take precedence over these. */
  readonly isShared?: boolean | undefined;
}

/**
 * Runs reports. Throws Refusal('report_too_slow') after the time limit, or Refusal('no_reports') if the engine is
 * unavailable.
 */
export interface Reports {
  run<One extends ReportQuery>(query: One, options?: RunReportOptions): Promise<ReportResult<One>>;
  /**
   * Runs a task that must precede a report, with a report's queue slot and time limit, which aborts `signal`. Throws
   * like `run`.
   */
  prepare<Value>(
    account: number,
    task: (signal: AbortSignal) => Promise<Value>,
    options?: RunReportOptions,
  ): Promise<Value>;
  close(): Promise<void>;
}
