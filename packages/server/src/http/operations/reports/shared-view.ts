/** The content of a share link: reports that are validated when the link is created, and run as stored. */
import { check, findUnknownParameter } from '@firsthand/contract/checking';
import { limits } from '@firsthand/contract/limits';
import { type InputOf, operations } from '@firsthand/contract/operations';
import { isContactDimension } from '@firsthand/contract/reports/report';
import type { SharedOperation } from '@firsthand/contract/reports/share-link';
import { Refusal } from '../../../shared/refusal.ts';
import type { Store } from '../../../store/store.ts';
import { refusalOf } from '../../operation-route.ts';
import { replaceSegments } from './filters.ts';
import { canMove, createDayMover, endOfPeriod, type Moving } from './moved-days.ts';
import type { CheckReport } from './reports.ts';

export interface SharedReport {
  /** The report's position on the page. */
  readonly part: string;
  readonly operation: SharedOperation;
  /** A validated request with its time zone, and with segments replaced. */
  readonly request: Readonly<Record<string, unknown>>;
}

/** The JSON in a share link's `view` in the store. */
export interface SharedView {
  /** The query string of the page's address, as returned by `toSharedQuery`. */
  readonly query: string;
  readonly moving?: Moving | undefined;
  readonly report: readonly SharedReport[];
}

/**
 * The console's URL parameters that control how reports are shown, by report. Other parameters are dropped: a filter
 * might contain personal data, and the rest is useless to a viewer.
 */
const parametersOfPages = ['range', 'from', 'to', 'compare', 'tab', 'measure', 'pages', 'sources', 'devices', 'places'];
const parametersOf: Readonly<Record<SharedOperation, readonly string[]>> = {
  reportTotals: ['event', 'goal'],
  reportBreakdown: ['event', 'by', 'goal'],
  reportFunnel: ['steps', 'within', 'per', 'group'],
  reportRetention: ['first', 'back', 'interval', 'group'],
};
const maxValueLength = 128;

/** Returns the part of an address's query that these reports need. */
export const toSharedQuery = (query: string, reports: readonly Pick<SharedReport, 'operation'>[]): string => {
  const names = [...parametersOfPages, ...reports.flatMap(({ operation }) => parametersOf[operation])];
  return new URLSearchParams(
    [...new URLSearchParams(query)].filter(([name, value]) => names.includes(name) && value.length <= maxValueLength),
  ).toString();
};

const invalid = (field: string, form: string): Refusal =>
  new Refusal('invalid_field', { field, message: `\`${field}\` ${form}` });

/** Throws Refusal('invalid_field') for a range whose length is not fixed. */
const checkRange = (request: InputOf<SharedOperation>, moving: Moving | undefined, at: string): void => {
  const { from, to } = request;
  if (moving === undefined) {
    if (to === undefined) throw invalid(`${at}.to`, 'is required unless `moving` is given');
    return;
  }
  const form = moving === 'day' ? 'a day, such as 2026-11-01' : 'the first day of a month, such as 2026-11-01';
  if (!canMove(from, moving)) throw invalid(`${at}.from`, `must be ${form}, because \`moving\` is given`);
  if (to !== undefined && !canMove(to, moving))
    throw invalid(`${at}.to`, `must be ${form}, because \`moving\` is given`);
};

/** Throws Refusal('invalid_field') for groups that no share link is allowed to show. */
const checkGroups = (request: InputOf<SharedOperation>, at: string): void => {
  if (!('by' in request) || request.by === undefined) return;
  if (request.by.some(isContactDimension))
    throw invalid(`${at}.by`, 'must not be contactTagID or contactProfileID in a share link');
  const max = limits.rowsPerSharedBreakdown;
  if ((request.limit ?? 0) > max) throw invalid(`${at}.limit`, `must be at most ${max} in a share link`);
};

/**
 * A moving range can later span more calendar intervals: whole days span at most two more weeks or months, and whole
 * months at most three more days.
 */
const spareIntervals = 3;

/**
 * Returns the request with the longest range that it can have: a moving range without an end grows until the day or
 * month is over.
 */
const withLongestRange = (request: InputOf<SharedOperation>, moving: Moving | undefined, zone: string, time: number) =>
  moving === undefined || request.to !== undefined ? request : { ...request, to: endOfPeriod(moving, zone, time) };

interface LinkContext {
  readonly store: Pick<Store, 'listSegments'>;
  readonly checkReport: CheckReport;
  readonly account: number;
  readonly accountOrigin: readonly string[];
  readonly accountTimezone: string;
  /** When the link is created, in milliseconds since 1970. */
  readonly time: number;
}

/**
 * Checks a new link's reports as their operations would, and replaces segments with their current filters. Rejects with
 * a Refusal that identifies the field.
 */
export const toSharedReports = async (
  { report, moving }: Pick<InputOf<'createShareLink'>, 'report' | 'moving'>,
  { store, checkReport, account, accountOrigin, accountTimezone, time }: LinkContext,
): Promise<SharedReport[]> => {
  const reports: SharedReport[] = [];
  const parts = new Set<string>();
  for (const [index, { part, operation, request: fields }] of report.entries()) {
    const at = `report[${index}].request`;
    if (parts.has(part)) throw invalid(`report[${index}].part`, 'must be different for each report');
    parts.add(part);
    const { input } = operations[operation];
    const unknown = findUnknownParameter(operation, input, fields);
    if (unknown !== undefined || Object.hasOwn(fields, 'tokenUUID'))
      throw invalid(`${at}.${unknown?.field ?? 'tokenUUID'}`, `is not a field of ${operation}`);
    const checked = check<InputOf<SharedOperation>>(input, fields, at);
    if (!checked.ok) throw refusalOf(checked.problem);
    const { value } = checked;
    checkRange(value, moving, at);
    checkGroups(value, at);
    const timezone = value.timezone ?? accountTimezone;
    const request = { ...(await replaceSegments(store, account, value, `${at}.`)), timezone };
    const context = { account, accountOrigin, zone: timezone, time, ...(moving && { spareIntervals }) };
    await checkReport(operation, { ...context, sent: withLongestRange(request, moving, timezone, time) }).catch(
      (error: unknown) => {
        if (!(error instanceof Refusal) || error.field === undefined) throw error;
        throw new Refusal(error.code, { field: `${at}.${error.field}`, message: error.message });
      },
    );
    reports.push({ part, operation, request });
  }
  if (Buffer.byteLength(JSON.stringify(reports)) <= limits.shareLinkBytes) return reports;
  const max = limits.shareLinkBytes.toLocaleString('en');
  throw invalid('report', `must be at most ${max} bytes of JSON, including the filters of its segments`);
};

/**
 * Returns a stored report's validated request at `time`, with its days moved forward since `createdTime`. Undefined if
 * an earlier version accepted a request that this version refuses.
 */
export const requestAt = (
  { operation, request }: SharedReport,
  {
    moving,
    createdTime,
    time,
  }: { readonly moving?: Moving | undefined; readonly createdTime: number; readonly time: number },
): InputOf<SharedOperation> | undefined => {
  const { from, to, timezone } = request;
  const move = moving && createDayMover(moving, timezone as string, createdTime, time);
  const moved = move
    ? { ...request, from: move(from as string), ...(to !== undefined && { to: move(to as string) }) }
    : request;
  const checked = check<InputOf<SharedOperation>>(operations[operation].input, moved);
  return checked.ok ? checked.value : undefined;
};
