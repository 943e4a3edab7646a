/** Reports: from a checked request to a question of the engine, and from its answer to that of the contract. */
import { limits } from '@firsthand/contract/limits';
import type { AnswerOf, InputOf } from '@firsthand/contract/operations';
import { type DimensionText, funnelSeconds } from '@firsthand/contract/reports/report';
import type {
  AnswerTo,
  BreakdownQuestion,
  FunnelAnswer,
  FunnelQuestion,
  Measures,
  Question,
  Reports,
  RetentionAnswer,
  RetentionQuestion,
  TotalsQuestion,
} from '../../../reports/questions.ts';
import type { Store } from '../../../store/store.ts';
import { type Answering, type AnsweringAll, accountOf } from '../../access/caller.ts';
import { toCursor } from '../../answers/cursor.ts';
import { isoTime } from '../../answers/iso-time.ts';
import { createAsk, type Reader } from './asking.ts';
import { conditionOf, type EventKinds, type Meanings, toCondition, unitedIn } from './conditions.ts';
import { type Surroundings as MeaningOfDimensions, toGrouping } from './dimensions.ts';
import { filtersOf, replaceSegments, type WithoutSegments } from './filters.ts';
import { createLiveAnswer } from './live.ts';
import { createFindMeanings, type Known } from './meanings.ts';
import { ownSitesOf } from './own-sites.ts';
import { createPeopleAnswer } from './people.ts';
import { edgesWithin, type Range, rangesOf } from './ranges.ts';
import { withUnlistedNames } from './unlisted-names.ts';

type ReportOperation = 'reportTotals' | 'reportBreakdown' | 'reportFunnel' | 'reportRetention';
type Input<Name extends ReportOperation> = WithoutSegments<InputOf<Name>>;
type Shared = 'from' | 'to' | 'earlier' | 'timezone' | 'through' | 'milliseconds';

/** What a request means in its account. */
interface Surroundings extends Meanings, MeaningOfDimensions {
  /** By how many fewer intervals than its limit a report may have: it will be asked about longer ranges. */
  readonly spareIntervals: number;
}

/** The fields of a question that not every question has. */
type OwnFields<One extends Question> = Omit<One, 'account' | 'from' | 'to' | 'robots' | 'condition' | 'united'>;

/** How a request becomes a question over a range, and an answer that of the request. */
interface Translation<Name extends ReportOperation, One extends Question> {
  /** Throws Refusal('invalid_field'). */
  readonly toQuestion: (input: Input<Name>, range: Range, surroundings: Surroundings) => OwnFields<One>;
  readonly toAnswer: (
    answer: AnswerTo<One>,
    given: { readonly input: Input<Name>; readonly question: OwnFields<One>; readonly kinds: EventKinds },
  ) => Omit<AnswerOf<Name>, Shared>;
}

/** The intervals between neighbouring edges, with what was counted in each. */
const intervalsOf = <Counted>(edges: readonly number[], counted: readonly Counted[]) =>
  counted.map((one, index) => ({
    from: isoTime(edges[index] as number),
    to: isoTime(edges[index + 1] as number),
    ...one,
  }));

/** The averages of visits in the place of their sums. */
const withAverages = <Counted extends Measures>({ visits, ...counts }: Counted) => {
  if (!visits) return counts;
  const ofEach = (sum: number): number | null => (counts.sessions === 0 ? null : sum / counts.sessions);
  const { bounces, pages, milliseconds } = visits;
  return {
    ...counts,
    visits: { bounceRate: ofEach(bounces), pages: ofEach(pages), seconds: ofEach(milliseconds / 1_000) },
  };
};

const totals: Translation<'reportTotals', TotalsQuestion> = {
  toQuestion: ({ interval, attrID = null, visits }, range, { zone, spareIntervals }) => ({
    report: 'totals',
    value: attrID,
    edges: interval
      ? edgesWithin(range, interval, zone, limits.intervalsPerReport - spareIntervals)
      : [range.from, range.to],
    ...(visits && { visits: true }),
  }),
  toAnswer: ({ total, intervals }, { input: { interval }, question: { edges } }) => ({
    total: withAverages(total),
    ...(interval && { interval: intervalsOf(edges, intervals.map(withAverages)) }),
  }),
};

const namedGroup = (values: readonly (string | null)[], by: readonly DimensionText[], { nameOf }: EventKinds) => {
  const ofEvent = by.indexOf('event');
  return { values: [...values], ...(ofEvent >= 0 && { eventName: nameOf(values[ofEvent] as string) }) };
};

/** The rows of a breakdown over time, if a request does not say. */
const rowsOverTime = 5;

const breakdown: Translation<'reportBreakdown', BreakdownQuestion> = {
  toQuestion: (
    { by, attrID = null, sort = 'people', interval, limit, visits, conversion, filter },
    range,
    surroundings,
  ) => ({
    report: 'breakdown',
    value: attrID,
    ...toGrouping(by, range, surroundings),
    sort,
    limit: limit ?? (interval ? rowsOverTime : 100),
    ...(visits && { visits: true }),
    ...(interval && {
      edges: edgesWithin(range, interval, surroundings.zone, limits.intervalsPerReport - surroundings.spareIntervals),
    }),
    ...(conversion && { among: { condition: filter ? toCondition(filter, surroundings) : null } }),
  }),
  toAnswer: ({ total, rows, others }, { input: { by }, question: { edges = [] }, kinds }) => ({
    total: withAverages(total),
    row: rows.map(({ values, intervals, ...counts }) => ({
      ...namedGroup(values, by, kinds),
      ...withAverages(counts),
      ...(intervals && { interval: intervalsOf(edges, intervals) }),
    })),
    ...(others && { others }),
  }),
};

const toSeconds = (milliseconds: number | undefined) => (milliseconds === undefined ? null : milliseconds / 1_000);
const toSteps = ({ steps, times }: Pick<FunnelAnswer, 'steps' | 'times'>) =>
  steps.map((reached, step) => {
    if (!times || step === 0) return { reached };
    const { average, median, p95 } = times[step - 1] ?? {};
    return { reached, seconds: { average: toSeconds(average), median: toSeconds(median), p95: toSeconds(p95) } };
  });

const funnel: Translation<'reportFunnel', FunnelQuestion> = {
  toQuestion: ({ step, within = funnelSeconds, per = 'person', by, limit = 100, times }, range, surroundings) => ({
    report: 'funnel',
    steps: step.map((one) => toCondition(one, surroundings)),
    withinMilliseconds: within * 1_000,
    per,
    ...(by && { groups: { ...toGrouping(by, range, surroundings), limit } }),
    ...(times && { times: true }),
  }),
  toAnswer: ({ rows, others, ...total }, { input: { by = [] }, kinds }) => ({
    step: toSteps(total),
    ...(rows && { row: rows.map((row) => ({ ...namedGroup(row.values, by, kinds), step: toSteps(row) })) }),
    ...(others && { others: { groups: others.groups, step: toSteps(others) } }),
  }),
};

const retention: Translation<'reportRetention', RetentionQuestion> = {
  toQuestion: (
    { first, back, interval = 'week', by, limit = limits.rowsOverTime },
    range,
    { spareIntervals, ...surroundings },
  ) => ({
    report: 'retention',
    first: first ? toCondition(first, surroundings) : null,
    back: back ? toCondition(back, surroundings) : null,
    edges: edgesWithin(range, interval, surroundings.zone, limits.periodsPerRetention - spareIntervals),
    ...(by && { groups: { ...toGrouping(by, range, surroundings), limit } }),
  }),
  toAnswer: ({ cohorts, rows, others }, { input: { by = [] }, question: { edges }, kinds }) => {
    const toCohorts = (list: RetentionAnswer['cohorts']) =>
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

/** A checked request, and what else decides about what it asks. */
interface Asked<Name extends ReportOperation> {
  readonly sent: InputOf<Name>;
  readonly account: number;
  readonly zone: string;
  readonly accountOrigin: readonly string[];
  /** When it is asked, in milliseconds since 1970. */
  readonly time: number;
  /** Null: the request is only checked. */
  readonly reader: Reader | null;
  readonly spareIntervals?: number;
}

/** Throws Refusal if the operation would refuse the request. */
export type CheckReport = <Name extends ReportOperation>(
  operation: Name,
  asked: Omit<Asked<Name>, 'reader'>,
) => Promise<void>;

/** The operations of reports, and the check that they make before they ask. Without `reports` each refuses what it would ask. */
export const createReports = (
  store: Known & Pick<Store, 'namePeople'>,
  reports: Reports | undefined,
): {
  readonly answering: AnsweringAll<ReportOperation | 'reportPeople' | 'reportLive'>;
  readonly check: CheckReport;
} => {
  const asking = createAsk(reports);
  const { ask } = asking;
  const findMeanings = createFindMeanings(store, asking);

  /** The questions of a request. Throws Refusal: both are made before one is asked, so that a refusal costs no report. */
  const prepare = async <Name extends ReportOperation, One extends Question>(
    { toQuestion }: Translation<Name, One>,
    { sent, account, accountOrigin, zone, time, reader, spareIntervals = 0 }: Asked<Name>,
  ) => {
    const { range, earlier } = rangesOf(sent, zone, time);
    const input: Input<Name> = await replaceSegments(store, account, sent);
    const named = { ...input, filters: filtersOf(input) };
    const meanings = await findMeanings(account, named, { now: time, reader });
    const asked = {
      account,
      robots: input.robots === 'include',
      condition: conditionOf(input, meanings),
      ...unitedIn(meanings),
    };
    const own = ownSitesOf(accountOrigin);
    const questionAbout = (within: Range) =>
      ({ ...asked, ...within, ...toQuestion(input, within, { zone, own, spareIntervals, ...meanings }) }) as One;
    return { input, kinds: meanings.kinds, question: questionAbout(range), earlier: earlier && questionAbout(earlier) };
  };

  const answer =
    <Name extends ReportOperation, One extends Question>(translation: Translation<Name, One>): Answering<Name> =>
    async (sent, caller) => {
      const began = performance.now();
      const { accountOrigin, accountTimezone } = caller.access;
      const zone = sent.timezone ?? accountTimezone;
      const asked = { sent, account: accountOf(caller), accountOrigin, zone, time: caller.time, reader: caller };
      const { input, kinds, question, earlier } = await prepare(translation, asked);
      const partOf = async (about: One) => {
        const { answer, through } = await ask(about, caller);
        const { from, to } = about;
        const ofEvent = ((input as { by?: readonly DimensionText[] }).by ?? []).indexOf('event');
        const { rows = [] } = answer as { rows?: readonly { readonly values: readonly (string | null)[] }[] | null };
        const eventIDs = ofEvent < 0 || !rows ? [] : rows.map(({ values }) => values[ofEvent] as string);
        const named = await withUnlistedNames(ask, about, { kinds, eventIDs, reader: caller });
        const counted = translation.toAnswer(answer, { input, question: about, kinds: named });
        return { through, part: { from: isoTime(from), to: isoTime(to), ...counted } };
      };
      const { part, through } = await partOf(question);
      return {
        ...part,
        ...(earlier && { earlier: (await partOf(earlier)).part }),
        timezone: zone,
        through: toCursor('events', through),
        milliseconds: Math.round(performance.now() - began),
        // The compiler can't know that a part and the shared members are all of an answer.
      } as unknown as AnswerOf<Name>;
    };

  return {
    answering: {
      reportTotals: answer(totals),
      reportBreakdown: answer(breakdown),
      reportFunnel: answer(funnel),
      reportRetention: answer(retention),
      reportPeople: createPeopleAnswer(store, asking, findMeanings),
      reportLive: createLiveAnswer(store, asking, findMeanings),
    },
    check: async <Name extends ReportOperation>(operation: Name, asked: Omit<Asked<Name>, 'reader'>) => {
      // The compiler can't know that the translation is that of the request.
      await prepare(translations[operation] as unknown as Translation<Name, Question>, { ...asked, reader: null });
    },
  };
};
