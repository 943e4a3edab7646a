/** What a share link shows: reports that are checked when the link is made, and asked as they were stored. */
import { check, refuseUnknown } from '@firsthand/contract/checking';
import { limits } from '@firsthand/contract/limits';
import { type InputOf, operations } from '@firsthand/contract/operations';
import { isContactWord } from '@firsthand/contract/reports/report';
import type { SharedOperation } from '@firsthand/contract/reports/share-link';
import { Refusal } from '../../../shared/refusal.ts';
import type { Store } from '../../../store/store.ts';
import { refusalOf } from '../../operation-route.ts';
import { replaceSegments } from './filters.ts';
import { canMove, createMove, endOfPeriod, type Moving } from './moved-days.ts';
import type { CheckReport } from './reports.ts';

export interface SharedReport {
  /** The place in the page. */
  readonly part: string;
  readonly operation: SharedOperation;
  /** A checked request without segments, with its time zone. */
  readonly request: Readonly<Record<string, unknown>>;
}

/** The JSON in `view` of a share link of the store. */
export interface SharedView {
  /** The query of the page's address, as `shownQuery` returns it. */
  readonly query: string;
  readonly moving?: Moving | undefined;
  readonly report: readonly SharedReport[];
}

/**
 * The parameters of the console's addresses that say how reports are shown, and of which reports. Others are left out, because a filter
 * may hold personal data, and the rest is of no use to a reader.
 */
const parametersOfPages = ['range', 'from', 'to', 'compare', 'tab', 'measure', 'pages', 'sources', 'devices', 'places'];
const parametersOf: Readonly<Record<SharedOperation, readonly string[]>> = {
  reportTotals: ['event'],
  reportBreakdown: ['event', 'by'],
  reportFunnel: ['steps', 'within', 'per', 'group'],
  reportRetention: ['first', 'back', 'interval', 'group'],
};
const longestValue = 128;

/** What of the query of an address these reports need. */
export const shownQuery = (query: string, reports: readonly Pick<SharedReport, 'operation'>[]): string => {
  const shown = [...parametersOfPages, ...reports.flatMap(({ operation }) => parametersOf[operation])];
  return new URLSearchParams(
    [...new URLSearchParams(query)].filter(([name, value]) => shown.includes(name) && value.length <= longestValue),
  ).toString();
};

const invalid = (field: string, form: string): Refusal =>
  new Refusal('invalid_field', { field, message: `\`${field}\` ${form}` });

/** Throws Refusal('invalid_field') for a range whose length is not fixed. */
const checkRange = (request: InputOf<SharedOperation>, moving: Moving | undefined, at: string): void => {
  const { from, to } = request;
  if (moving === undefined) {
    if (to === undefined) throw invalid(`${at}.to`, 'is required, unless `moving` is given');
    return;
  }
  const form = moving === 'day' ? 'a day, such as 2026-11-01' : 'the first day of a month, such as 2026-11-01';
  if (!canMove(from, moving)) throw invalid(`${at}.from`, `must be ${form}, because \`moving\` is given`);
  if (to !== undefined && !canMove(to, moving))
    throw invalid(`${at}.to`, `must be ${form}, because \`moving\` is given`);
};

/** Throws Refusal('invalid_field') for groups that a share link does not show. */
const checkGroups = (request: InputOf<SharedOperation>, at: string): void => {
  if (!('by' in request) || request.by === undefined) return;
  if (request.by.some(isContactWord))
    throw invalid(`${at}.by`, 'must not be contactTagID or contactProfileID in a share link');
  const most = limits.rowsPerSharedBreakdown;
  if ((request.limit ?? 0) > most) throw invalid(`${at}.limit`, `must be at most ${most} in a share link`);
};

/**
 * A range that moves may touch more of the calendar's intervals later. One of whole days touches at most two more weeks or months, and one of
 * whole months at most three more days.
 */
const spareIntervals = 3;

/** The request as it is at its longest: a range that moves and has no end grows until the day or month is over. */
const longest = (request: InputOf<SharedOperation>, moving: Moving | undefined, zone: string, time: number) =>
  moving === undefined || request.to !== undefined ? request : { ...request, to: endOfPeriod(moving, zone, time) };

interface Making {
  readonly store: Pick<Store, 'listSegments'>;
  readonly checkReport: CheckReport;
  readonly account: number;
  readonly accountOrigin: readonly string[];
  readonly accountTimezone: string;
  /** When the link is made, in milliseconds since 1970. */
  readonly time: number;
}

/**
 * Checks the reports of a new link as their operations do, and replaces segments by the filters that are saved now. Throws Refusal, which
 * names the field.
 */
export const toSharedReports = async (
  { report, moving }: Pick<InputOf<'createShareLink'>, 'report' | 'moving'>,
  { store, checkReport, account, accountOrigin, accountTimezone, time }: Making,
): Promise<SharedReport[]> => {
  const reports: SharedReport[] = [];
  const parts = new Set<string>();
  for (const [index, { part, operation, request: given }] of report.entries()) {
    const at = `report[${index}].request`;
    if (parts.has(part)) throw invalid(`report[${index}].part`, 'must differ from that of the other reports');
    parts.add(part);
    const { input } = operations[operation];
    const unknown = refuseUnknown(operation, input, given);
    if (unknown !== undefined || Object.hasOwn(given, 'tokenUUID'))
      throw invalid(`${at}.${unknown?.field ?? 'tokenUUID'}`, `is no field of ${operation}`);
    const checked = check<InputOf<SharedOperation>>(input, given, at);
    if (!checked.ok) throw refusalOf(checked.problem);
    const { value } = checked;
    checkRange(value, moving, at);
    checkGroups(value, at);
    const timezone = value.timezone ?? accountTimezone;
    const request = { ...(await replaceSegments(store, account, value, `${at}.`)), timezone };
    const asked = { account, accountOrigin, zone: timezone, time, ...(moving && { spareIntervals }) };
    await checkReport(operation, { ...asked, sent: longest(request, moving, timezone, time) }).catch(
      (error: unknown) => {
        if (!(error instanceof Refusal) || error.field === undefined) throw error;
        throw new Refusal(error.code, { field: `${at}.${error.field}`, message: error.message });
      },
    );
    reports.push({ part, operation, request });
  }
  if (Buffer.byteLength(JSON.stringify(reports)) <= limits.shareLinkBytes) return reports;
  const most = limits.shareLinkBytes.toLocaleString('en');
  throw invalid('report', `must be at most ${most} bytes of JSON, with the filters of its segments`);
};

/**
 * The checked request of a stored report at a time: its days move on from `createdTime`, when the link was made. undefined: an earlier
 * version took what this one refuses.
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
  const move = moving && createMove(moving, timezone as string, createdTime, time);
  const moved = move
    ? { ...request, from: move(from as string), ...(to !== undefined && { to: move(to as string) }) }
    : request;
  const checked = check<InputOf<SharedOperation>>(operations[operation].input, moved);
  return checked.ok ? checked.value : undefined;
};
