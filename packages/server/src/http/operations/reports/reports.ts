/** Translates validated report requests into engine queries, and engine results into responses. */
import { limits } from '@firsthand/contract/limits';
import type { InputOf, OutputOf } from '@firsthand/contract/operations';
import { type DimensionText, funnelSeconds } from '@firsthand/contract/reports/report';
import type {
  BreakdownQuery,
  Conversions,
  FunnelQuery,
  FunnelResult,
  Measures,
  ReportQuery,
  Reports,
  ResultOf,
  RetentionQuery,
  RetentionResult,
  Times,
  TotalsQuery,
} from '../../../reports/queries.ts';
import type { Store } from '../../../store/store.ts';
import { accountOf, type Handler, type Handlers } from '../../access/caller.ts';
import { toCursor } from '../../responses/cursor.ts';
import { isoTime } from '../../responses/iso-time.ts';
import { conditionOf, type EventKinds, mergedIDsIn, type ResolvedNames, toCondition } from './conditions.ts';
import { type ContactReports, createContactReports } from './contact-reports.ts';
import { type DimensionContext, toGrouping } from './dimensions.ts';
import { filtersOf, replaceSegments, type WithoutSegments } from './filters.ts';
import { findGoal } from './goals.ts';
import { createLiveHandler } from './live.ts';
import { createNameResolver, type NameStore } from './name-resolution.ts';
import { ownSitesOf } from './own-sites.ts';
import { createPeopleHandler } from './people.ts';
import { edgesWithin, type Range, rangesOf } from './ranges.ts';
import { type AuthorizedReader, createReportRunner } from './run-report.ts';
import { withUnlistedNames } from './unlisted-names.ts';

type ReportOperation = 'reportTotals' | 'reportBreakdown' | 'reportFunnel' | 'reportRetention';
type Input<Name extends ReportOperation> = WithoutSegments<InputOf<Name>>;
type Shared = 'from' | 'to' | 'earlier' | 'timezone' | 'through' | 'milliseconds';

/** The account data that a query depends on. */
interface QueryContext extends ResolvedNames, DimensionContext {
  /** How many intervals to stay below the limit, because a moving report can later cover a longer range. */
  readonly spareIntervals: number;
  /** The goal of a report with `goalID`. */
  readonly goal: TotalsQuery['goal'];
}

/** The fields that are specific to a kind of query. */
type OwnFields<One extends ReportQuery> = Omit<One, 'account' | 'from' | 'to' | 'robots' | 'condition' | 'mergedIDs'>;

/** Translates a request into a query over a range, and the result into a response. */
interface Translation<Name extends ReportOperation, One extends ReportQuery> {
  /** Throws Refusal('invalid_field'). */
  readonly toQuery: (input: Input<Name>, range: Range, context: QueryContext) => OwnFields<One>;
  readonly toResponse: (
    result: ResultOf<One>,
    request: { readonly input: Input<Name>; readonly query: OwnFields<One>; readonly kinds: EventKinds },
  ) => Omit<OutputOf<Name>, Shared>;
}

/** Returns the intervals between adjacent edges, with the counts of each. */
const intervalsOf = <Counts>(edges: readonly number[], counts: readonly Counts[]) =>
  counts.map((one, index) => ({
    from: isoTime(edges[index] as number),
    to: isoTime(edges[index + 1] as number),
    ...one,
  }));

const toSeconds = (milliseconds: number | undefined) => (milliseconds === undefined ? null : milliseconds / 1_000);
const toTimes = ({ average, median, p95 }: Partial<Times>) => ({
  average: toSeconds(average),
  median: toSeconds(median),
  p95: toSeconds(p95),
});

/** Returns a share or an average; null if there is nothing to divide. */
const divide = (sum: number, count: number): number | null => (count === 0 ? null : sum / count);

const toConversions = (
  { times, ...reached }: Conversions,
  { people, sessions }: Pick<Measures, 'people' | 'sessions'>,
) => ({
  ...reached,
  peopleRate: divide(reached.people, people),
  sessionsRate: divide(reached.sessions, sessions),
  ...(times !== undefined && { seconds: toTimes(times ?? {}) }),
});

/** Replaces the sums of visits with their averages, and adds the rates of conversions. */
const withAverages = <Counts extends Measures>({ visits, conversions, ...counts }: Counts) => ({
  ...counts,
  ...(visits && {
    visits: {
      bounceRate: divide(visits.bounces, counts.sessions),
      pages: divide(visits.pages, counts.sessions),
      seconds: divide(visits.milliseconds / 1_000, counts.sessions),
    },
  }),
  ...(conversions && { conversions: toConversions(conversions, counts) }),
});

const totals: Translation<'reportTotals', TotalsQuery> = {
  toQuery: ({ interval, attrID = null, visits }, range, { zone, spareIntervals, goal }) => ({
    report: 'totals',
    value: attrID,
    edges: interval
      ? edgesWithin(range, interval, zone, limits.intervalsPerReport - spareIntervals)
      : [range.from, range.to],
    ...(visits && { visits: true }),
    ...(goal && { goal }),
  }),
  toResponse: ({ total, intervals }, { input: { interval }, query: { edges } }) => ({
    total: withAverages(total),
    ...(interval && { interval: intervalsOf(edges, intervals.map(withAverages)) }),
  }),
};

const namedGroup = (values: readonly (string | null)[], by: readonly DimensionText[], { nameOf }: EventKinds) => {
  const ofEvent = by.indexOf('event');
  return { values: [...values], ...(ofEvent >= 0 && { eventName: nameOf(values[ofEvent] as string) }) };
};

/** The default number of rows in a breakdown over time. */
const rowsOverTime = 5;

const breakdown: Translation<'reportBreakdown', BreakdownQuery> = {
  toQuery: ({ by, attrID = null, sort = 'people', interval, limit, visits, conversion, filter }, range, context) => ({
    report: 'breakdown',
    value: attrID,
    ...toGrouping(by, range, context),
    sort,
    limit: limit ?? (interval ? rowsOverTime : 100),
    ...(visits && { visits: true }),
    ...(context.goal && { goal: context.goal }),
    ...(interval && {
      edges: edgesWithin(range, interval, context.zone, limits.intervalsPerReport - context.spareIntervals),
    }),
    ...(conversion && { among: { condition: filter ? toCondition(filter, context) : null } }),
  }),
  toResponse: ({ total, rows, others }, { input: { by }, query: { edges = [] }, kinds }) => ({
    total: withAverages(total),
    row: rows.map(({ values, intervals, ...counts }) => ({
      ...namedGroup(values, by, kinds),
      ...withAverages(counts),
      ...(intervals && { interval: intervalsOf(edges, intervals) }),
    })),
    ...(others && { others }),
  }),
};

const toSteps = ({ steps, times }: Pick<FunnelResult, 'steps' | 'times'>) =>
  steps.map((reached, step) => {
    if (!times || step === 0) return { reached };
    return { reached, seconds: toTimes(times[step - 1] ?? {}) };
  });

const funnel: Translation<'reportFunnel', FunnelQuery> = {
  toQuery: ({ step, within = funnelSeconds, per = 'person', by, limit = 100, times }, range, context) => ({
    report: 'funnel',
    steps: step.map((one) => toCondition(one, context)),
    withinMilliseconds: within * 1_000,
    per,
    ...(by && { groups: { ...toGrouping(by, range, context), limit } }),
    ...(times && { times: true }),
  }),
  toResponse: ({ rows, others, ...total }, { input: { by = [] }, kinds }) => ({
    step: toSteps(total),
    ...(rows && { row: rows.map((row) => ({ ...namedGroup(row.values, by, kinds), step: toSteps(row) })) }),
    ...(others && { others: { groups: others.groups, step: toSteps(others) } }),
  }),
};

const retention: Translation<'reportRetention', RetentionQuery> = {
  toQuery: (
    { first, back, interval = 'week', by, limit = limits.rowsOverTime },
    range,
    { spareIntervals, ...context },
  ) => ({
    report: 'retention',
    first: first ? toCondition(first, context) : null,
    back: back ? toCondition(back, context) : null,
    edges: edgesWithin(range, interval, context.zone, limits.periodsPerRetention - spareIntervals),
    ...(by && { groups: { ...toGrouping(by, range, context), limit } }),
  }),
  toResponse: ({ cohorts, rows, others }, { input: { by = [] }, query: { edges }, kinds }) => {
    const toCohorts = (list: RetentionResult['cohorts']) =>
      intervalsOf(
        edges,
        list.map(({ people, back }) => ({ people, back: [...back] })),
      );
    return {
      cohort: toCohorts(cohorts),
      ...(rows && {
        row: rows.map((row) => ({ ...namedGroup(row.values, by, kinds), cohort: toCohorts(row.cohorts) })),
      }),
      ...(others && { others: { groups: others.groups } }),
    };
  },
};

const translations = {
  reportTotals: totals,
  reportBreakdown: breakdown,
  reportFunnel: funnel,
  reportRetention: retention,
};

/** A validated request, with everything that its query depends on. */
interface ReportRequest<Name extends ReportOperation> {
  readonly sent: InputOf<Name>;
  readonly account: number;
  readonly zone: string;
  readonly accountOrigin: readonly string[];
  /** When the report runs, in milliseconds since 1970. */
  readonly time: number;
  /** Null if the request is only validated. */
  readonly reader: AuthorizedReader | null;
  readonly spareIntervals?: number;
}

/** Rejects with the same Refusal as the operation would, but runs no report. */
export type CheckReport = <Name extends ReportOperation>(
  operation: Name,
  request: Omit<ReportRequest<Name>, 'reader'>,
) => Promise<void>;

/**
 * Returns the report operations, and the check that they make before running. Without `reports`, the operations refuse
 * every valid request.
 */
export const createReports = (
  store: NameStore & Pick<Store, 'namePeople' | 'listGoals'>,
  reports: Reports | undefined,
): {
  readonly handlers: Handlers<ReportOperation | 'reportPeople' | 'reportLive'>;
  readonly check: CheckReport;
  readonly contactReports: ContactReports;
} => {
  const runner = createReportRunner(reports);
  const resolveNames = createNameResolver(store, runner);

  /** Returns a request's queries. Both are built before either runs, so that a refusal doesn't cost a report. */
  const prepare = async <Name extends ReportOperation, One extends ReportQuery>(
    { toQuery }: Translation<Name, One>,
    { sent, account, accountOrigin, zone, time, reader, spareIntervals = 0 }: ReportRequest<Name>,
  ) => {
    const { range, earlier } = rangesOf(sent, zone, time);
    const input: Input<Name> = await replaceSegments(store, account, sent);
    const names = await resolveNames(account, { ...input, filters: filtersOf(input) }, { now: time, reader });
    const { goalID } = sent as { goalID?: string };
    const saved = goalID === undefined ? undefined : await findGoal(store, account, goalID);
    const goal = saved && { condition: toCondition(saved.filter, names), value: saved.value };
    const common = {
      account,
      robots: input.robots === 'include',
      condition: conditionOf(input, names),
      ...mergedIDsIn(names),
    };
    const own = ownSitesOf(accountOrigin);
    const queryOver = (within: Range) =>
      ({ ...common, ...within, ...toQuery(input, within, { zone, own, spareIntervals, goal, ...names }) }) as One;
    return { input, kinds: names.kinds, query: queryOver(range), earlier: earlier && queryOver(earlier) };
  };

  const createHandler =
    <Name extends ReportOperation, One extends ReportQuery>(translation: Translation<Name, One>): Handler<Name> =>
    async (sent, caller) => {
      const startTime = performance.now();
      const { accountOrigin, accountTimezone } = caller.access;
      const zone = sent.timezone ?? accountTimezone;
      const request = { sent, account: accountOf(caller), accountOrigin, zone, time: caller.time, reader: caller };
      const { input, kinds, query, earlier } = await prepare(translation, request);
      const runPart = async (part: One) => {
        const { result, through } = await runner.run(part, caller);
        const { from, to } = part;
        const ofEvent = ((input as { by?: readonly DimensionText[] }).by ?? []).indexOf('event');
        const { rows = [] } = result as { rows?: readonly { readonly values: readonly (string | null)[] }[] | null };
        const eventIDs = ofEvent < 0 || !rows ? [] : rows.map(({ values }) => values[ofEvent] as string);
        const allKinds = await withUnlistedNames(runner.run, part, { kinds, eventIDs, reader: caller });
        const counts = translation.toResponse(result, { input, query: part, kinds: allKinds });
        return { through, part: { from: isoTime(from), to: isoTime(to), ...counts } };
      };
      const { part, through } = await runPart(query);
      return {
        ...part,
        ...(earlier && { earlier: (await runPart(earlier)).part }),
        timezone: zone,
        through: toCursor('events', through),
        milliseconds: Math.round(performance.now() - startTime),
        // Safe, but the compiler can't infer that a part and the shared members make up the whole response.
      } as unknown as OutputOf<Name>;
    };

  return {
    contactReports: createContactReports(store, runner, resolveNames),
    handlers: {
      reportTotals: createHandler(totals),
      reportBreakdown: createHandler(breakdown),
      reportFunnel: createHandler(funnel),
      reportRetention: createHandler(retention),
      reportPeople: createPeopleHandler(store, runner, resolveNames),
      reportLive: createLiveHandler(store, runner, resolveNames),
    },
    check: async <Name extends ReportOperation>(operation: Name, request: Omit<ReportRequest<Name>, 'reader'>) => {
      // Safe, but the compiler can't infer that the translation matches the request.
      await prepare(translations[operation] as unknown as Translation<Name, ReportQuery>, { ...request, reader: null });
    },
  };
};
