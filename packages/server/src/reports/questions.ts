/** What a report asks and answers: plain data, with every name resolved to its number, every time to milliseconds. */

/** A condition on an event. Depth, count and lengths are bounded by the contract. */
export type Condition =
  | { readonly and: readonly Condition[] }
  | { readonly or: readonly Condition[] }
  | { readonly not: Condition }
  /** What the first event of the event's person ever that has the attribute is like; of robots only if the question counts these. */
  | { readonly personFirst: Comparison }
  /** The event belongs to one of these contacts, by their numbers; to any contact if null. */
  | { readonly contacts: Float64Array | null }
  /**
   * The event's person has at least `atLeast` and, unless null, at most `atMost` events that meet `did` with from ≤ eventTime < to, in the
   * range of the question or not; of robots only if the question counts these. No `did` within another.
   */
  | {
      readonly did: Condition | null;
      readonly atLeast: number;
      readonly atMost: number | null;
      readonly from: number;
      readonly to: number;
    }
  /** The event is of one of these kinds. */
  | { readonly eventIDs: readonly number[] }
  | Comparison;

/** A comparison with an attribute of an event. */
export type Comparison =
  /** The event has the attribute with one of these values (exactly). */
  | { readonly attrID: string; readonly is: readonly string[] }
  /** The value contains the text; case counts. */
  | { readonly attrID: string; readonly contains: string }
  | { readonly attrID: string; readonly exists: boolean }
  /** The value is a decimal number (`decimalNumber`) and below or above this one. */
  | { readonly attrID: string; readonly below: number }
  | { readonly attrID: string; readonly above: number };

/** Attribute values that count as numbers: as JSON writes them, and of less than `numberLimit`, positive or negative. */
export const decimalNumber = /^-?(0|[1-9][0-9]{0,300})(\.[0-9]{1,300})?([eE][+-]?[0-9]{1,3})?$/;
/** No sum of such numbers leaves the range of a double. */
export const numberLimit = 1e100;

/** A pause after which a user's next event begins a new session. */
export const sessionPauseMilliseconds = 30 * 60_000;

/** The events that a report is about: of the account, with from ≤ eventTime < to. */
interface Asked {
  readonly account: number;
  readonly from: number;
  readonly to: number;
  /** Whether the events of robots count. */
  readonly robots: boolean;
  readonly condition: Condition | null;
  /** Absent: no entry of a catalogue is merged. */
  readonly united?: UnitedIDs;
}

/**
 * IDs that are one, because entries of a catalogue were merged: first the one that stands for all. Events have the IDs that were sent, and
 * are grouped under the first. An attribute of an event is that of the first of these IDs that the event has. Conditions on kinds of events
 * name each ID themselves.
 */
export interface UnitedIDs {
  readonly events: readonly (readonly number[])[];
  readonly attributes: readonly (readonly string[])[];
}

/**
 * The measures of a set of events. Every event belongs to a person: its owner, else its user. `users`: distinct browsers.
 * `sessions`: a session is the events of one user (or, without a user, of the contact that they were logged with) in the
 * report's range, of robots only when these count, whatever the condition, without a pause of sessionPauseMilliseconds or more;
 * those with at least one event of the set are counted.
 */
export interface Measures {
  readonly events: number;
  readonly users: number;
  readonly people: number;
  readonly sessions: number;
  /** Of the events whose attribute `value` is a decimal number; all null when there is none, and absent without `value`. */
  readonly value?: {
    readonly count: number;
    readonly sum: number | null;
    readonly average: number | null;
    /** Interpolated between the two values next to it, as PostgreSQL's percentile_cont. */
    readonly median: number | null;
    readonly p95: number | null;
  };
  /** Of the sessions that are counted, with all their events in the range, of whatever kind. Absent unless the question asks for visits. */
  readonly visits?: {
    /** Sessions of one event, which is a page view: it has the attribute `path`. */
    readonly bounces: number;
    readonly pages: number;
    /** From the first to the last event of each, in sum. */
    readonly milliseconds: number;
  };
}

export interface TotalsQuestion extends Asked {
  readonly report: 'totals';
  /** The attribute to sum up. */
  readonly value: string | null;
  /** Ascending: the first is `from`, the last `to`. Two neighbours bound an interval; at most 1,000 intervals. */
  readonly edges: readonly number[];
  readonly visits?: boolean;
}
export interface TotalsAnswer {
  readonly total: Measures;
  /** A session counts in each interval in which it has an event. */
  readonly intervals: readonly Measures[];
}

/** The contacts, by their numbers, that have a value. */
export interface ContactList {
  readonly value: string;
  readonly contacts: Float64Array;
}

/** The hosts of the account's sites, and for all hosts of a domain how these end (`.shop.example`). A page of theirs is no referrer. */
export interface OwnSites {
  readonly hosts: readonly string[];
  readonly suffixes: readonly string[];
}

/** How events are grouped. */
export type Dimension =
  | { readonly attrID: string }
  /** The values of the contact that the event belongs to: such an event is in the group of each, and counts once in the total and in `others`. */
  | { readonly lists: readonly ContactList[] }
  /** eventID, as text */
  | { readonly by: 'event' }
  /** `1` (Monday) to `7`, and `0` to `23`, on the clock of the question's zone */
  | { readonly by: 'weekday' | 'hour' }
  /**
   * The attribute of the first or last event of the session that has it. `personFirst`: of the first event of the event's person ever, in the
   * range of the question or not; of robots only if the question counts these.
   */
  | { readonly attrID: string; readonly of: 'first' | 'last' | 'personFirst' }
  /**
   * The host in the attribute `referrer`, unless it is of an own site. `entryReferrerHost`: in that of the session's first event that has one,
   * even an empty one. `firstReferrerHost`: in that of the person's first event that has one.
   */
  | { readonly by: 'referrerHost' | 'entryReferrerHost' | 'firstReferrerHost'; readonly own: OwnSites };

type MeasureName = 'events' | 'users' | 'people' | 'sessions';

export interface BreakdownQuestion extends Asked {
  readonly report: 'breakdown';
  readonly value: string | null;
  /** One or two. */
  readonly dimensions: readonly Dimension[];
  /** How far local time is ahead of UTC, in milliseconds, from each time on; ascending, the first at or before `from`. */
  readonly offsets: readonly (readonly [from: number, milliseconds: number])[];
  readonly sort: MeasureName;
  /** 1 to 1,000 rows; all other events are in `others`. */
  readonly limit: number;
  readonly visits?: boolean;
  /** Adds `intervals` to the rows; as in TotalsQuestion. */
  readonly edges?: readonly number[];
  /** Adds `among` to the total and the rows. Groups of none but such events are rows with zeros after all others, as far as the limit allows. */
  readonly among?: { readonly condition: Condition | null };
}
/** The dimensions of groups, with the offsets of local time. */
export type Grouping = Pick<BreakdownQuestion, 'dimensions' | 'offsets'>;
/** `among`: people with an event in the group that meets the condition `among` of the question. */
type MeasuresAmong = Measures & { readonly among?: number };
export interface BreakdownAnswer {
  readonly total: MeasuresAmong;
  /** By the measure `sort`, greatest first, then by values as bytes of UTF-8, ascending, null last. Null: the event has no such value. */
  readonly rows: readonly (MeasuresAmong & {
    readonly values: readonly (string | null)[];
    /** Without visits. */
    readonly intervals?: readonly Measures[];
  })[];
  /** The measures of all events in no row (people and users exactly, once each), without visits; null when there are none. */
  readonly others: (Measures & { readonly groups: number }) | null;
}

export interface FunnelQuestion extends Asked {
  readonly report: 'funnel';
  /** 2 to 8. `condition` of the question applies to all of them. */
  readonly steps: readonly Condition[];
  /** The last step happens at most this long after the first. */
  readonly withinMilliseconds: number;
  /** Who goes through it: a person, or a person within one session of a user (see Measures). */
  readonly per: 'person' | 'session';
  /** The groups of the answer's rows; at most `limit` rows, 1 to 1,000. */
  readonly groups?: Grouping & { readonly limit: number };
  /** Adds `times`. */
  readonly times?: boolean;
}
/**
 * Of each step but the first: how long those who reached it took from the first step, in milliseconds; null when nobody did. That is measured
 * at the first event that completes the step, from the latest event from which the steps up to it can have been gone through.
 */
type Times = readonly ({ readonly average: number; readonly median: number; readonly p95: number } | null)[];
/**
 * For each step, how many went through all steps up to it: one event for each, each later than that of the step before (by eventTime, then
 * by sequence).
 */
type Reached = readonly number[];
export interface FunnelAnswer {
  readonly steps: Reached;
  readonly times?: Times;
  /**
   * A person belongs to the groups of its first event that meets the first step. Sorted by those who reached it, most first, then by values as
   * in BreakdownAnswer. Absent if no groups were asked for.
   */
  readonly rows?: readonly {
    readonly values: readonly (string | null)[];
    readonly steps: Reached;
    readonly times?: Times;
  }[];
  /** Those in no row; absent when there are none. */
  readonly others?: { readonly groups: number; readonly steps: Reached };
}

export interface RetentionQuestion extends Asked {
  readonly report: 'retention';
  /** What a person does first, and what counts as coming back. */
  readonly first: Condition | null;
  readonly back: Condition | null;
  /** As in TotalsQuestion; at most 100 periods. */
  readonly edges: readonly number[];
  /** The groups of the answer's rows. */
  readonly groups?: Grouping & { readonly limit: number };
}
type Cohorts = readonly { readonly people: number; readonly back: readonly number[] }[];
export interface RetentionAnswer {
  /**
   * For each period: the people whose first event that meets `first` is in it, and how many of them have a later event (by eventTime, then by
   * sequence) that meets `back` in that period, in the next one, and so on.
   */
  readonly cohorts: Cohorts;
  /**
   * A person belongs to the groups of its first event that meets `first`. Sorted by people, most first, then by values as in BreakdownAnswer.
   * Absent if no groups were asked for.
   */
  readonly rows?: readonly { readonly values: readonly (string | null)[]; readonly cohorts: Cohorts }[];
  /** How many groups are in no row; absent when there are none. */
  readonly others?: { readonly groups: number };
}

/** One group; `values` in the order of the dimensions. */
export type Group = Grouping & { readonly values: readonly (string | null)[] };

/** Which events and people of a range are meant. */
export type PeopleOf =
  /** Every event that meets the condition. */
  | { readonly kind: 'all' }
  /** The events of one group of a breakdown. */
  | ({ readonly kind: 'group' } & Group)
  /**
   * The people who reached a step (0 is the first) and, with `dropped`, not the next one; with `group`, in that group of the funnel. With per
   * 'session', in one session at least.
   */
  | ({ readonly kind: 'step'; readonly step: number; readonly dropped: boolean; readonly group?: Group } & Pick<
      FunnelQuestion,
      'steps' | 'withinMilliseconds' | 'per'
    >)
  /** The people of a cohort (0 is the first), with `group` in that group; those of them who came back so many periods later, unless `later` is null. */
  | ({
      readonly kind: 'cohort';
      readonly cohort: number;
      readonly later: number | null;
      readonly group?: Group;
    } & Pick<RetentionQuestion, 'first' | 'back' | 'edges'>);

/** People are sorted by the time of their newest event, by the number of events, or by the sum of the attribute `value`. */
export type PeopleSort = 'lastTime' | 'events' | 'sum';

/** A place in the list of people. */
export interface PeopleEnd {
  /** What people are sorted by; the sum to a millionth, and that of people without a number is `noSum`. */
  readonly key: number;
  /** A contact above zero, a user without one below. */
  readonly person: number;
}

/** Below the sum of any numbers. */
export const noSum = -1e300;

export interface PeopleQuestion extends Asked {
  readonly report: 'people';
  readonly of: PeopleOf;
  /** Only people with so many users at least among their events that count; 0: all. */
  readonly usersAtLeast: number;
  /** The attribute to sum up. */
  readonly value?: string;
  /** `lastTime` if absent. */
  readonly sort?: PeopleSort;
  readonly limit: number;
  /** The page after this place; null: the first page. */
  readonly beyond: PeopleEnd | null;
  /** Only events up to this sequence count, so that later pages go on from the first one; null: all. */
  readonly until: number | null;
}
export interface PeopleAnswer {
  /** By `sort`, the greatest and newest first; all events of theirs in the range that meet the condition. */
  readonly people: readonly (Pick<PeopleEnd, 'person'> &
    Pick<Measures, 'events' | 'users' | 'value'> & {
      readonly firstTime: number;
      readonly lastTime: number;
    })[];
  /** Null on the last page. */
  readonly next: PeopleEnd | null;
}

export interface LiveQuestion extends Asked {
  readonly report: 'live';
  readonly own: OwnSites;
  /** The most rows of each list. */
  readonly limit: number;
}
/** Each person counts once, with the value of the newest event (by eventTime, then by sequence) that has one; null: none has. */
interface LiveList {
  /** By people, greatest first, then by values as bytes of UTF-8, ascending, null last. */
  readonly rows: readonly { readonly value: string | null; readonly people: number }[];
  /** The people in no row. */
  readonly others: number;
}
export interface LiveAnswer {
  readonly events: number;
  readonly users: number;
  readonly people: number;
  /** The attribute `path`. */
  readonly page: LiveList;
  readonly referrerHost: LiveList;
  /** The attribute `$country`. */
  readonly country: LiveList;
}

export interface Asks {
  readonly totals: { readonly question: TotalsQuestion; readonly answer: TotalsAnswer };
  readonly breakdown: { readonly question: BreakdownQuestion; readonly answer: BreakdownAnswer };
  readonly funnel: { readonly question: FunnelQuestion; readonly answer: FunnelAnswer };
  readonly retention: { readonly question: RetentionQuestion; readonly answer: RetentionAnswer };
  readonly people: { readonly question: PeopleQuestion; readonly answer: PeopleAnswer };
  readonly live: { readonly question: LiveQuestion; readonly answer: LiveAnswer };
}
export type ReportName = keyof Asks;
export type Question = Asks[ReportName]['question'];
export type AnswerTo<One extends Question> = Asks[One['report']]['answer'];

export interface Reported<One extends Question> {
  readonly answer: AnswerTo<One>;
  /** Every event stored up to this sequence is counted, and every change of owners that was answered before the report was asked. */
  readonly through: number;
}
export interface AskOptions {
  /** Aborts when the client leaves. */
  readonly signal?: AbortSignal | undefined;
  /** The report is for a share link, and yields to those of members. */
  readonly isShared?: boolean | undefined;
}

/** Answers reports. Throws Refusal('report_too_slow') after the time limit, Refusal('no_reports') when the engine is missing or fails. */
export interface Reports {
  ask<One extends Question>(question: One, options?: AskOptions): Promise<Reported<One>>;
  /** Runs what a report needs before its question, in the place of a report and with its time limit: then `signal` aborts. Throws as `ask`. */
  prepare<Value>(account: number, task: (signal: AbortSignal) => Promise<Value>, options?: AskOptions): Promise<Value>;
  close(): Promise<void>;
}
