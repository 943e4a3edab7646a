import type { Client } from '@firsthand/client';
import { type Command, Option } from 'commander';
import { defineSegments } from './report-segments.ts';
import { defineShareLinks } from './report-share-links.ts';
import { WrongUsage } from './shared/command-errors.ts';
import { asFilter, toFilter } from './shared/filters.ts';
import { collect } from './shared/flags.ts';
import { type Cell, printComplaint, printCSV, printJSON, printLine, toMinute, toTable } from './shared/printing.ts';
import { addServer, connect, type ServerOptions } from './shared/server.ts';

const intervals = ['hour', 'day', 'week', 'month'] as const;
const counts = ['events', 'users', 'people', 'sessions'] as const;
const figures = ['sum', 'average', 'median', 'p95'] as const;

const asGroups =
  'one or two of attr:<attrID>, first:<attrID>, last:<attrID>, person:first:<attrID>, event, weekday, hour, entryPage, exitPage, referrerHost, entryReferrerHost, firstReferrerHost, contactProfileID, contactTagID';

const addFilter = (command: Command): Command =>
  addServer(command)
    .option('--csv', 'print CSV: the rows of the table without totals')
    .option('--filter <filter>', `only events that meet it: ${asFilter}`)
    .option('--robots', 'count the events of robots too');

/** The flags that every report over a range takes. */
const addRange = (command: Command): Command =>
  addFilter(command)
    .requiredOption('--from <time>', 'only events at or after this time, or from this day on: 2026-11-01')
    .option('--to <time>', 'only events before this time or day; until now by default')
    .option('--timezone <zone>', "where days begin; the account's time zone by default");
const addReport = (command: Command): Command =>
  addRange(command).addOption(
    new Option('--compare <range>', 'add the same of an earlier range').choices(['previous', 'year'] as const),
  );

const addValue = (command: Command): Command =>
  command.option('--value <attrID>', 'an attribute whose numbers are summed up');

export const define = (command: Command): void => {
  addValue(addReport(command.command('totals').description('count events, users, people and sessions')))
    .addOption(new Option('--interval <interval>', 'count for each').choices(intervals))
    .action(totals);
  addValue(addReport(command.command('breakdown').description('count by attributes, events, pages or times')))
    .requiredOption('--by <list>', asGroups)
    .addOption(new Option('--sort <count>', 'the greatest of it first; people by default').choices(counts))
    .option('--limit <number>', 'the most rows; 100 by default')
    .action(breakdown);
  addReport(command.command('funnel').description('count who goes through steps'))
    .requiredOption('--step <filter>', `${asFilter}; repeat the option for the next step`, collect)
    .option('--within <seconds>', 'from the first step to the last; 30 days by default')
    .addOption(
      new Option('--per <what>', 'what goes through; a person by default').choices(['person', 'session'] as const),
    )
    .option('--by <list>', `for each group: ${asGroups}`)
    .option('--limit <number>', 'the most groups; 100 by default')
    .action(funnel);
  addReport(command.command('retention').description('count who came back'))
    .option('--first <filter>', `what people did first: ${asFilter}; anything by default`)
    .option('--back <filter>', `what counts as coming back: ${asFilter}; anything by default`)
    .addOption(
      new Option('--interval <interval>', 'the periods; a week by default').choices(['day', 'week', 'month'] as const),
    )
    .action(retention);
  addRange(command.command('people').description('list who is behind a number of a report'))
    .option('--by <list>', 'for a row of a breakdown or funnel: what it is by')
    .option('--is <value>', 'for a row: a value of it; repeat the option for the next one', collect)
    .option('--step <filter>', `for a number of a funnel: ${asFilter}; repeat the option for the next step`, collect)
    .option('--within <seconds>', 'from the first step to the last; 30 days by default')
    .addOption(new Option('--per <what>', 'what goes through').choices(['person', 'session'] as const))
    .option('--reached <step>', 'who reached this step; the first is 1')
    .option('--dropped <step>', 'who reached this step and not the next one')
    .option('--cohort <number>', 'for a number of retention: the people of this period; the first is 1')
    .option('--later <periods>', 'who came back so many periods later')
    .option('--first <filter>', `what people did first: ${asFilter}; anything by default`)
    .option('--back <filter>', `what counts as coming back: ${asFilter}; anything by default`)
    .addOption(
      new Option('--interval <interval>', 'the periods; a week by default').choices(['day', 'week', 'month'] as const),
    )
    .option('--users-at-least <number>', 'only people with so many users, such as two phones')
    .option('--limit <number>', 'the most people; 100 by default')
    .option('--cursor <cursor>', 'the nextCursor of the page before')
    .action(people);
  addFilter(
    command.command('live').description('count the people of the last five minutes, by page, origin and country'),
  )
    .option('--limit <number>', 'the most rows of each list; 10 by default')
    .action(live);
  defineSegments(command.command('segment').description('save, list and delete filters under a name'));
  defineShareLinks(command.command('share').description('list and revoke the links that the console has made'));
};

type ReportName = 'reportTotals' | 'reportBreakdown' | 'reportFunnel' | 'reportRetention';
type Answer<Name extends ReportName> = Awaited<ReturnType<Client[Name]>>;
/** What a report answers about one range. */
type Part<Name extends ReportName> = NonNullable<Answer<Name>['earlier']>;

type FilterOptions = ServerOptions & {
  readonly csv?: boolean;
  readonly filter?: string;
  readonly robots?: boolean;
};
type ReportOptions = FilterOptions & {
  readonly from: string;
  readonly to?: string;
  readonly timezone?: string;
  readonly compare?: 'previous' | 'year';
};

const optionalFilter = (flag: string, text: string | undefined) =>
  text === undefined ? undefined : toFilter(`--${flag}`, text);

const filterFields = ({ filter, robots }: FilterOptions) => ({
  filter: optionalFilter('filter', filter),
  robots: robots ? ('include' as const) : undefined,
});
const sharedFields = ({ from, to, timezone, compare, ...options }: ReportOptions) => ({
  from,
  to,
  timezone,
  compare,
  ...filterFields(options),
});

type Row = readonly Cell[];

/** The rows of a report over one range, and further ones that only the table has. */
interface Rows {
  readonly rows: readonly Row[];
  readonly more?: readonly Row[];
}

const printRows = (csv: boolean | undefined, head: readonly string[], rows: readonly Row[]): void => {
  const texts = rows.map((row) => row.map((cell) => (cell === null ? '-' : String(cell))));
  if (csv) printCSV([head, ...rows]);
  else printLine(toTable([head.map((name) => name.toUpperCase()), ...texts]));
};

/** Prints an answer as JSON, or the rows of its range and of the earlier one. `columns` are their names. */
const print = <Name extends ReportName>(
  { json, csv }: ReportOptions,
  answer: Answer<Name>,
  columns: readonly string[],
  rowsOf: (part: Part<Name>) => Rows,
): void => {
  if (json) {
    printJSON(answer);
    return;
  }
  const parts = [answer, answer.earlier].filter((part) => part !== undefined) as Part<Name>[];
  const head = parts.length > 1 ? ['range', ...columns] : columns;
  const rows = parts.flatMap((part, nth) => {
    const { rows, more = [] } = rowsOf(part);
    const shown = csv ? rows : [...rows, ...more];
    return parts.length > 1 ? shown.map((row) => [nth === 0 ? 'current' : 'earlier', ...row]) : shown;
  });
  printRows(csv, head, rows);
};

/** The client of a command. Throws WrongUsage. */
const client = (options: FilterOptions): Promise<Client> => {
  if (options.json && options.csv) throw new WrongUsage('either --json or --csv, not both');
  return connect(options);
};

type ValueOptions = ReportOptions & { readonly value?: string };
const countNames = ({ value }: ValueOptions): string[] => [...counts, ...(value === undefined ? [] : figures)];
const countCells = ({ value }: ValueOptions, measures: Part<'reportTotals'>['total']): Cell[] => [
  ...counts.map((name) => measures[name]),
  ...(value === undefined ? [] : figures.map((name) => measures.value?.[name] ?? null)),
];

const timeCell = ({ csv }: Pick<ReportOptions, 'csv'>, time: string): string => (csv ? time : toMinute(time));

type TotalsOptions = ValueOptions & { readonly interval?: (typeof intervals)[number] };

const totals = async (options: TotalsOptions): Promise<void> => {
  const { value: attrID, interval } = options;
  const asked = await client(options);
  const answer = await asked.reportTotals({ ...sharedFields(options), attrID, interval });
  const columns = ['from', 'to', ...countNames(options)];
  print<'reportTotals'>(options, answer, columns, ({ from, to, total, interval: parts }) => {
    const counted = (parts ?? [{ from, to, ...total }]).map((part) => [
      timeCell(options, part.from),
      timeCell(options, part.to),
      ...countCells(options, part),
    ]);
    return { rows: counted, ...(parts && { more: [['total', '', ...countCells(options, total)]] }) };
  });
};

/** The columns that name a group. */
const keysOf = (by: string): string[] => {
  const dimensions = by.split(',').map((dimension) => dimension.trim());
  return [...dimensions, ...(dimensions.includes('event') ? ['eventName'] : [])];
};

type BreakdownOptions = ValueOptions & {
  readonly by: string;
  readonly sort?: (typeof counts)[number];
  readonly limit?: string;
};

const breakdown = async (options: BreakdownOptions): Promise<void> => {
  const { value: attrID, by, sort, limit } = options;
  const asked = await client(options);
  const answer = await asked.reportBreakdown({ ...sharedFields(options), attrID, by, sort, limit });
  const keys = keysOf(by);
  const columns = [...keys, ...countNames(options)];
  print<'reportBreakdown'>(options, answer, columns, ({ row, others, total }) => {
    const summed = (label: string, measures: typeof total): Row => [
      label,
      ...keys.slice(1).map(() => ''),
      ...countCells(options, measures),
    ];
    return {
      rows: row.map(({ values, eventName, ...measures }) => [
        ...values,
        ...(keys.includes('eventName') ? [eventName ?? null] : []),
        ...countCells(options, measures),
      ]),
      more: [...(others ? [summed(`${others.groups} others`, others)] : []), summed('total', total)],
    };
  });
};

type FunnelOptions = ReportOptions & {
  readonly step: string[];
  readonly within?: string;
  readonly per?: 'person' | 'session';
  readonly by?: string;
  readonly limit?: string;
};

const shareOf = (part: number, whole: number | undefined): Cell =>
  whole ? `${((100 * part) / whole).toFixed(1)} %` : null;

const funnel = async (options: FunnelOptions): Promise<void> => {
  const { step: texts, within, per, by, limit } = options;
  const asked = await client(options);
  const step = texts.map((text) => toFilter('--step', text));
  const answer = await asked.reportFunnel({ ...sharedFields(options), step, within, per, by, limit });
  if (by !== undefined) {
    const keys = keysOf(by);
    print<'reportFunnel'>(options, answer, [...keys, ...texts], ({ step: steps, row = [], others }) => {
      const summed = (label: string, reached: typeof steps): Row => [
        label,
        ...keys.slice(1).map(() => ''),
        ...reached.map((one) => one.reached),
      ];
      return {
        rows: row.map(({ values, eventName, ...group }) => [
          ...values,
          ...(keys.includes('eventName') ? [eventName ?? null] : []),
          ...group.step.map(({ reached }) => reached),
        ]),
        more: [...(others ? [summed(`${others.groups} others`, others.step)] : []), summed('total', steps)],
      };
    });
    return;
  }
  const columns = ['number', 'step', 'reached', 'of first', 'of previous'];
  print<'reportFunnel'>(options, answer, columns, ({ step: steps }) => ({
    rows: steps.map(({ reached }, nth) => [
      nth + 1,
      texts[nth] as string,
      reached,
      shareOf(reached, steps[0]?.reached),
      shareOf(reached, steps[Math.max(0, nth - 1)]?.reached),
    ]),
  }));
};

type RetentionOptions = ReportOptions & {
  readonly first?: string;
  readonly back?: string;
  readonly interval?: 'day' | 'week' | 'month';
};

const retention = async (options: RetentionOptions): Promise<void> => {
  const { interval } = options;
  const first = optionalFilter('first', options.first);
  const back = optionalFilter('back', options.back);
  const asked = await client(options);
  const answer = await asked.reportRetention({ ...sharedFields(options), first, back, interval });
  const most = Math.max(answer.cohort.length, answer.earlier?.cohort.length ?? 0);
  const later = Array.from({ length: most }, (_, nth) => nth);
  const columns = ['from', 'to', 'people', ...later.map((nth) => `back ${nth}`)];
  print<'reportRetention'>(options, answer, columns, ({ cohort }) => ({
    rows: cohort.map(({ from, to, people, back: cameBack }) => [
      timeCell(options, from),
      timeCell(options, to),
      people,
      ...later.map((nth) => cameBack[nth] ?? ''),
    ]),
  }));
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
  readonly limit?: string;
  readonly cursor?: string;
};

const people = async (options: PeopleOptions): Promise<void> => {
  const {
    by,
    is: value,
    within,
    per,
    reached,
    dropped,
    cohort,
    later,
    interval,
    usersAtLeast,
    limit,
    cursor,
    json,
    csv,
  } = options;
  const asked = await client(options);
  const { compare: _, ...shared } = sharedFields(options);
  const answer = await asked.reportPeople({
    ...shared,
    ...{ by, value, within, per, reached, dropped, cohort, later, interval, usersAtLeast, limit, cursor },
    step: options.step?.map((text) => toFilter('--step', text)),
    first: optionalFilter('first', options.first),
    back: optionalFilter('back', options.back),
  });
  if (json) {
    printJSON(answer);
    return;
  }
  const columns = [
    'contactUUID',
    'contactExternalID',
    'contactFirstname',
    'contactLastname',
    'contactEmailaddress',
  ] as const;
  const rows = answer.person.map(
    (person): Row => [
      ...columns.map((name) => person[name]),
      person.userUUID,
      person.events,
      person.users,
      timeCell(options, person.firstTime),
      timeCell(options, person.lastTime),
    ],
  );
  printRows(csv, [...columns, 'userUUID', 'events', 'users', 'first', 'last'], rows);
  if (answer.nextCursor) printComplaint(`There are more people: --cursor ${answer.nextCursor}`);
};

type LiveOptions = FilterOptions & { readonly limit?: string };

const live = async (options: LiveOptions): Promise<void> => {
  const { json, csv, limit } = options;
  const asked = await client(options);
  const answer = await asked.reportLive({ ...filterFields(options), limit });
  if (json) {
    printJSON(answer);
    return;
  }
  const lists = (['page', 'referrerHost', 'country'] as const).flatMap((name) => {
    const { row, others } = answer[name];
    const rest: Row[] = others > 0 && !csv ? [[name, 'others', others]] : [];
    return [...row.map(({ value, people }): Row => [name, value, people]), ...rest];
  });
  const total: Row[] = csv ? [] : [['total', '', answer.people]];
  printRows(csv, ['list', 'value', 'people'], [...lists, ...total]);
};
