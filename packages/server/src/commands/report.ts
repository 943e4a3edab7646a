import type { Client } from '@firsthand/client';
import { type ComparisonPeriod, comparisonPeriods } from '@firsthand/contract/reports/report';
import { type Command, Option } from 'commander';
import { formatCount } from '../shared/format-count.ts';
import { defineSegments } from './report-segments.ts';
import { defineShareLinks } from './report-share-links.ts';
import { UsageError } from './shared/command-errors.ts';
import { filterHelp, parseFilter } from './shared/filters.ts';
import { collect } from './shared/flags.ts';
import { type Cell, printCSV, printError, printJSON, printLine, toMinute, toTable } from './shared/printing.ts';
import { addServerOptions, connect, type ServerOptions } from './shared/server.ts';

const intervals = ['hour', 'day', 'week', 'month'] as const;
const counts = ['events', 'users', 'people', 'sessions'] as const;
const figures = ['sum', 'average', 'median', 'p95'] as const;
const visitFigures = ['bounceRate', 'pages', 'seconds'] as const;
const timeFigures = ['average', 'median', 'p95'] as const;

const groupsHelp =
  'one or two of attr:<attrID>, first:<attrID>, last:<attrID>, person:first:<attrID>, event, weekday, hour, entryPage, exitPage, referrerHost, entryReferrerHost, firstReferrerHost, contactProfileID, contactTagID';

const addFilter = (command: Command): Command =>
  addServerOptions(command)
    .option('--csv', 'print the rows of the table as CSV, without totals')
    .option('--filter <filter>', `only events that match: ${filterHelp}`)
    .option('--robots', 'also count events from bots');

/** Adds the flags that all reports over a time range share. */
const addRange = (command: Command): Command =>
  addFilter(command)
    .requiredOption('--from <time>', 'only events at or after this time or day, such as 2026-11-01')
    .option('--to <time>', 'only events before this time or day; now by default')
    .option('--timezone <zone>', "the time zone of days; the account's by default");
const addReport = (command: Command): Command =>
  addRange(command).addOption(
    new Option('--compare <range>', 'also report an earlier range').choices(comparisonPeriods),
  );

const addValue = (command: Command): Command =>
  command.option('--value <attrID>', 'an attribute whose numeric values are summed');
const addVisits = (command: Command): Command =>
  command.option('--visits', 'add the bounce rate, and average page views and seconds per session');

export const define = (command: Command): void => {
  addVisits(addValue(addReport(command.command('totals').description('count events, users, people and sessions'))))
    .addOption(new Option('--interval <interval>', 'count per interval').choices(intervals))
    .action(totals);
  addVisits(
    addValue(addReport(command.command('breakdown').description('count by attributes, events, pages or times'))),
  )
    .requiredOption('--by <list>', groupsHelp)
    .option('--event <event>', 'only this event, by name or number')
    .option('--conversion', 'with --event: also count the people of each group with any event that matches the filter')
    .addOption(
      new Option('--interval <interval>', 'count each group over time')
        .choices(intervals)
        .conflicts(['conversion', 'visits']),
    )
    .addOption(new Option('--sort <count>', 'sort by this count, highest first; people by default').choices(counts))
    .option('--limit <number>', 'the maximum number of groups; 100 by default, 5 with --interval')
    .action(breakdown);
  addReport(command.command('funnel').description('count people who complete a sequence of steps'))
    .requiredOption('--step <filter>', `${filterHelp}; repeat the option for the next step`, collect)
    .option('--within <seconds>', 'maximum time from the first step to the last; 30 days by default')
    .addOption(
      new Option('--per <unit>', 'the unit that completes the steps; a person by default').choices([
        'person',
        'session',
      ] as const),
    )
    .option('--times', 'add the seconds from the first step to each step')
    .option('--by <list>', `group by: ${groupsHelp}`)
    .option('--limit <number>', 'the maximum number of groups; 100 by default')
    .action(funnel);
  addReport(command.command('retention').description('count people who came back'))
    .option('--first <filter>', `what people did first: ${filterHelp}; anything by default`)
    .option('--back <filter>', `what counts as coming back: ${filterHelp}; anything by default`)
    .addOption(
      new Option('--interval <interval>', 'the periods; a week by default').choices(['day', 'week', 'month'] as const),
    )
    .option('--by <list>', `group by: ${groupsHelp}`)
    .option('--limit <number>', 'the maximum number of groups; 20 by default')
    .action(retention);
  addValue(addRange(command.command('people').description('list the people behind a number in a report')))
    .option('--by <list>', 'for a row in a report: its dimensions')
    .option('--is <value>', 'for a row: its value; repeat the option for a second dimension', collect)
    .option('--step <filter>', `for a number in a funnel: ${filterHelp}; repeat the option for the next step`, collect)
    .option('--within <seconds>', 'maximum time from the first step to the last; 30 days by default')
    .addOption(new Option('--per <unit>', 'the unit that completes the steps').choices(['person', 'session'] as const))
    .option('--reached <step>', 'people who reached this step; the first is 1')
    .option('--dropped <step>', 'people who reached this step but not the next one')
    .option('--cohort <number>', 'for a number in a retention report: the people of this period; the first is 1')
    .option('--later <periods>', 'people who came back this many periods later')
    .option('--first <filter>', `what people did first: ${filterHelp}; anything by default`)
    .option('--back <filter>', `what counts as coming back: ${filterHelp}; anything by default`)
    .addOption(
      new Option('--interval <interval>', 'the periods; a week by default').choices(['day', 'week', 'month'] as const),
    )
    .option('--users-at-least <number>', 'only people with at least this many users, such as two phones')
    .addOption(
      new Option('--sort <order>', 'most recent event first (default), most events first or largest sum first').choices(
        ['lastTime', 'events', 'sum'] as const,
      ),
    )
    .option('--limit <number>', 'the maximum number of people; 100 by default')
    .option('--cursor <cursor>', 'the nextCursor of the previous page')
    .action(people);
  addFilter(
    command
      .command('live')
      .description('count the people active in the last five minutes, by page, origin and country'),
  )
    .option('--limit <number>', 'the maximum number of rows in each list; 10 by default')
    .action(live);
  defineSegments(command.command('segment').description('save, list and delete named filters'));
  defineShareLinks(command.command('share').description('list and revoke share links created in the console'));
};

type ReportName = 'reportTotals' | 'reportBreakdown' | 'reportFunnel' | 'reportRetention';
type ReportResponse<Name extends ReportName> = Awaited<ReturnType<Client[Name]>>;
/** The part of a response about one range. */
type Part<Name extends ReportName> = NonNullable<ReportResponse<Name>['earlier']>;

type FilterOptions = ServerOptions & {
  readonly csv?: boolean;
  readonly filter?: string;
  readonly robots?: boolean;
};
type ReportOptions = FilterOptions & {
  readonly from: string;
  readonly to?: string;
  readonly timezone?: string;
  readonly compare?: ComparisonPeriod;
};

const parseOptionalFilter = (flag: string, text: string | undefined) =>
  text === undefined ? undefined : parseFilter(`--${flag}`, text);

const toFilterFields = ({ filter, robots }: FilterOptions) => ({
  filter: parseOptionalFilter('filter', filter),
  robots: toInclude(robots),
});
const toSharedFields = ({ from, to, timezone, compare, ...options }: ReportOptions) => ({
  from,
  to,
  timezone,
  compare,
  ...toFilterFields(options),
});

type Row = readonly Cell[];

/** A report's rows over one range. */
interface Rows {
  readonly rows: readonly Row[];
  /** Rows that only the table shows, not CSV. */
  readonly more?: readonly Row[];
}

/** Rounds numbers to four decimals. CSV and JSON contain all decimals. */
const toTableText = (cell: Cell): string => {
  if (cell === null) return '-';
  return String(typeof cell === 'number' ? Math.round(cell * 1e4) / 1e4 : cell);
};

const printRows = (csv: boolean | undefined, head: readonly string[], rows: readonly Row[]): void => {
  if (csv) printCSV([head, ...rows]);
  else printLine(toTable([head.map((name) => name.toUpperCase()), ...rows.map((row) => row.map(toTableText))]));
};

/**
 * Prints a response as JSON, or its rows under `columns`: first the rows of its range, then the rows of the earlier
 * range.
 */
const print = <Name extends ReportName>(
  { json, csv }: ReportOptions,
  response: ReportResponse<Name>,
  columns: readonly string[],
  rowsOf: (part: Part<Name>) => Rows,
): void => {
  if (json) {
    printJSON(response);
    return;
  }
  const parts = [response, response.earlier].filter((part) => part !== undefined) as Part<Name>[];
  const head = parts.length > 1 ? ['range', ...columns] : columns;
  const rows = parts.flatMap((part, nth) => {
    const { rows, more = [] } = rowsOf(part);
    const printed = csv ? rows : [...rows, ...more];
    return parts.length > 1 ? printed.map((row) => [nth === 0 ? 'current' : 'earlier', ...row]) : printed;
  });
  printRows(csv, head, rows);
};

const openClient = (options: FilterOptions): Promise<Client> => {
  if (options.json && options.csv) throw new UsageError('use either --json or --csv, not both');
  return connect(options);
};

interface CountOptions {
  readonly value?: string;
  readonly visits?: boolean;
  readonly conversion?: boolean;
}
type Counts = Pick<Part<'reportBreakdown'>['total'], (typeof counts)[number] | 'value' | 'visits' | 'among'>;
const countNames = ({ value, visits, conversion }: CountOptions): string[] => [
  ...counts,
  ...(value === undefined ? [] : figures),
  ...(visits ? visitFigures : []),
  ...(conversion ? ['among'] : []),
];
const figureCells = ({ value }: CountOptions, ofValue: Counts['value']): Cell[] =>
  value === undefined ? [] : figures.map((name) => ofValue?.[name] ?? null);
const countCells = (options: CountOptions, measures: Counts): Cell[] => [
  ...counts.map((name) => measures[name]),
  ...figureCells(options, measures.value),
  ...(options.visits ? visitFigures.map((name) => measures.visits?.[name] ?? null) : []),
  ...(options.conversion ? [measures.among ?? null] : []),
];
const toInclude = (isSet: boolean | undefined) => (isSet ? ('include' as const) : undefined);

const timeCell = ({ csv }: Pick<ReportOptions, 'csv'>, time: string): string => (csv ? time : toMinute(time));

type TotalsOptions = ReportOptions &
  Omit<CountOptions, 'conversion'> & { readonly interval?: (typeof intervals)[number] };

const totals = async (options: TotalsOptions): Promise<void> => {
  const { value: attrID, visits, interval } = options;
  const client = await openClient(options);
  const response = await client.reportTotals({
    ...toSharedFields(options),
    ...{ attrID, interval, visits: toInclude(visits) },
  });
  const columns = ['from', 'to', ...countNames(options)];
  print<'reportTotals'>(options, response, columns, ({ from, to, total, interval: parts }) => {
    const rows = (parts ?? [{ from, to, ...total }]).map((part) => [
      timeCell(options, part.from),
      timeCell(options, part.to),
      ...countCells(options, part),
    ]);
    return { rows, ...(parts && { more: [['total', '', ...countCells(options, total)]] }) };
  });
};

/** The names of the columns that identify a group. */
const toKeyColumns = (by: string): string[] => {
  const dimensions = by.split(',').map((dimension) => dimension.trim());
  return [...dimensions, ...(dimensions.includes('event') ? ['eventName'] : [])];
};

type GroupRow = Part<'reportBreakdown'>['row'][number];

/** The cells that identify a group. */
const groupCells = (keys: readonly string[], { values, eventName }: Pick<GroupRow, 'values' | 'eventName'>): Row => [
  ...values,
  ...(keys.includes('eventName') ? [eventName ?? null] : []),
];

/** The first cells of a summary row, which replace the cells that identify a group. */
const summaryCells = (keys: readonly string[], label: string): Row => [label, ...keys.slice(1).map(() => '')];

type BreakdownOptions = ReportOptions &
  CountOptions & {
    readonly by: string;
    readonly event?: string;
    readonly interval?: (typeof intervals)[number];
    readonly sort?: (typeof counts)[number];
    readonly limit?: string;
  };

const toKind = (event: string | undefined) => {
  if (event === undefined) return {};
  return /^\d+$/.test(event) ? { eventID: event } : { eventName: event };
};

const breakdown = async (options: BreakdownOptions): Promise<void> => {
  const { value: attrID, by, event, interval, visits, conversion, sort, limit } = options;
  const client = await openClient(options);
  const response = await client.reportBreakdown({
    ...toSharedFields(options),
    ...toKind(event),
    ...{ attrID, by, interval, visits: toInclude(visits), conversion: toInclude(conversion), sort, limit },
  });
  const keys = toKeyColumns(by);
  const times = interval === undefined ? [] : ['from', 'to'];
  const columns = [...keys, ...times, ...countNames(options)];
  print<'reportBreakdown'>(options, response, columns, ({ row, others, total }) => {
    const toSummaryRow = (label: string, measures: Counts): Row => [
      ...summaryCells(keys, label),
      ...times.map(() => ''),
      ...countCells(options, measures),
    ];
    const rowsOf = ({ values, eventName, interval: parts, ...measures }: GroupRow): Row[] => {
      const keyCells = groupCells(keys, { values, eventName });
      if (!parts) return [[...keyCells, ...countCells(options, measures)]];
      return parts.map((part) => [
        ...keyCells,
        ...[part.from, part.to].map((time) => timeCell(options, time)),
        ...countCells(options, part),
      ]);
    };
    return {
      rows: row.flatMap(rowsOf),
      more: [
        ...(others ? [toSummaryRow(formatCount(others.groups, 'other'), others)] : []),
        toSummaryRow('total', total),
      ],
    };
  });
};

type FunnelOptions = ReportOptions & {
  readonly step: string[];
  readonly within?: string;
  readonly per?: 'person' | 'session';
  readonly times?: boolean;
  readonly by?: string;
  readonly limit?: string;
};

const shareOf = (part: number, whole: number | undefined): Cell =>
  whole ? `${((100 * part) / whole).toFixed(1)} %` : null;

const funnel = async (options: FunnelOptions): Promise<void> => {
  const { step: texts, within, per, times, by, limit } = options;
  const client = await openClient(options);
  const step = texts.map((text) => parseFilter('--step', text));
  const response = await client.reportFunnel({
    ...toSharedFields(options),
    ...{ step, within, per, times: toInclude(times), by, limit },
  });
  if (by !== undefined) {
    const keys = toKeyColumns(by);
    const medians = times ? texts.slice(1).map((text) => `median seconds to ${text}`) : [];
    print<'reportFunnel'>(options, response, [...keys, ...texts, ...medians], ({ step: steps, row = [], others }) => {
      const stepCells = (group: typeof steps): Row => [
        ...group.map(({ reached }) => reached),
        ...(times ? group.slice(1).map(({ seconds }) => seconds?.median ?? null) : []),
      ];
      const toSummaryRow = (label: string, group: typeof steps): Row => [
        ...summaryCells(keys, label),
        ...stepCells(group),
      ];
      return {
        rows: row.map((group) => [...groupCells(keys, group), ...stepCells(group.step)]),
        more: [
          ...(others ? [toSummaryRow(formatCount(others.groups, 'other'), others.step)] : []),
          toSummaryRow('total', steps),
        ],
      };
    });
    return;
  }
  const durations = times ? timeFigures : [];
  const columns = [
    ...['number', 'step', 'reached', 'of first', 'of previous'],
    ...durations.map((name) => `${name} seconds`),
  ];
  print<'reportFunnel'>(options, response, columns, ({ step: steps }) => ({
    rows: steps.map(({ reached, seconds }, nth) => [
      nth + 1,
      texts[nth] as string,
      reached,
      shareOf(reached, steps[0]?.reached),
      shareOf(reached, steps[Math.max(0, nth - 1)]?.reached),
      ...durations.map((name) => seconds?.[name] ?? null),
    ]),
  }));
};

type RetentionOptions = ReportOptions & {
  readonly first?: string;
  readonly back?: string;
  readonly interval?: 'day' | 'week' | 'month';
  readonly by?: string;
  readonly limit?: string;
};

const retention = async (options: RetentionOptions): Promise<void> => {
  const { interval, by, limit } = options;
  const first = parseOptionalFilter('first', options.first);
  const back = parseOptionalFilter('back', options.back);
  const client = await openClient(options);
  const response = await client.reportRetention({ ...toSharedFields(options), first, back, interval, by, limit });
  const maxPeriods = Math.max(response.cohort.length, response.earlier?.cohort.length ?? 0);
  const later = Array.from({ length: maxPeriods }, (_, nth) => nth);
  const keys = by === undefined ? [] : toKeyColumns(by);
  const columns = [...keys, 'from', 'to', 'people', ...later.map((nth) => `back ${nth}`)];
  print<'reportRetention'>(options, response, columns, ({ cohort, row, others }) => {
    const rowsOf = (keyCells: Row, cohorts: typeof cohort): Row[] =>
      cohorts.map(({ from, to, people, back: returning }) => [
        ...keyCells,
        timeCell(options, from),
        timeCell(options, to),
        people,
        ...later.map((nth) => returning[nth] ?? ''),
      ]);
    if (!row) return { rows: rowsOf([], cohort) };
    return {
      rows: row.flatMap((group) => rowsOf(groupCells(keys, group), group.cohort)),
      more: [
        ...(others ? [summaryCells(columns, formatCount(others.groups, 'other'))] : []),
        ...rowsOf(summaryCells(keys, 'total'), cohort),
      ],
    };
  });
};

type PeopleOptions = Omit<ReportOptions, 'compare'> & {
  readonly by?: string;
  readonly is?: string[];
  readonly step?: string[];
  readonly within?: string;
  readonly per?: 'person' | 'session';
  readonly reached?: string;
  readonly dropped?: string;
  readonly cohort?: string;
  readonly later?: string;
  readonly first?: string;
  readonly back?: string;
  readonly interval?: 'day' | 'week' | 'month';
  readonly usersAtLeast?: string;
  readonly value?: string;
  readonly sort?: 'lastTime' | 'events' | 'sum';
  readonly limit?: string;
  readonly cursor?: string;
};

const people = async (options: PeopleOptions): Promise<void> => {
  const { by, is: value, within, per, reached, dropped, cohort, later, interval } = options;
  const { usersAtLeast, value: attrID, sort, limit, cursor, json, csv } = options;
  const client = await openClient(options);
  const { compare: _, ...shared } = toSharedFields(options);
  const response = await client.reportPeople({
    ...shared,
    ...{ by, value, within, per, reached, dropped, cohort, later, interval },
    ...{ usersAtLeast, attrID, sort, limit, cursor },
    step: options.step?.map((text) => parseFilter('--step', text)),
    first: parseOptionalFilter('first', options.first),
    back: parseOptionalFilter('back', options.back),
  });
  if (json) {
    printJSON(response);
    return;
  }
  const columns = [
    'contactUUID',
    'contactExternalID',
    'contactFirstname',
    'contactLastname',
    'contactEmailaddress',
  ] as const;
  const rows = response.person.map(
    (person): Row => [
      ...columns.map((name) => person[name]),
      person.userUUID,
      person.events,
      person.users,
      timeCell(options, person.firstTime),
      timeCell(options, person.lastTime),
      ...figureCells(options, person.value),
    ],
  );
  const numbers = attrID === undefined ? [] : figures;
  printRows(csv, [...columns, 'userUUID', 'events', 'users', 'first', 'last', ...numbers], rows);
  if (response.nextCursor) printError(`There are more people: --cursor ${response.nextCursor}`);
};

type LiveOptions = FilterOptions & { readonly limit?: string };

const live = async (options: LiveOptions): Promise<void> => {
  const { json, csv, limit } = options;
  const client = await openClient(options);
  const response = await client.reportLive({ ...toFilterFields(options), limit });
  if (json) {
    printJSON(response);
    return;
  }
  const lists = (['page', 'referrerHost', 'country'] as const).flatMap((name) => {
    const { row, others } = response[name];
    const rest: Row[] = others > 0 && !csv ? [[name, 'others', others]] : [];
    return [...row.map(({ value, people }): Row => [name, value, people]), ...rest];
  });
  const total: Row[] = csv ? [] : [['total', '', response.people]];
  printRows(csv, ['list', 'value', 'people'], [...lists, ...total]);
};
