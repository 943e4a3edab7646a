/** Checks the conditions of alerts. */

import type { DueNotification, Store } from '../../store/store.ts';
import { day } from '../operations/calendar.ts';
import type { RunReport } from './run-report.ts';

const minute = 60_000;
const hour = 60 * minute;
/** The store counts events by quarters of an hour. */
const quarter = 15 * minute;

/** The clock of a client can be this much ahead. */
const maxAheadMilliseconds = 5 * minute;

/** A drop from fewer people or events than this is chance. */
export const minEarlierCount = 10;

export interface AlertCheck {
  readonly isActive: boolean;
  readonly count: number;
  /** What was counted a week earlier. */
  readonly earlier?: number;
}

/** How long to wait until the next check. After an alert has ended, it begins again an hour later at the earliest. */
export const pauseAfterCheck = ({ kind }: Pick<DueNotification, 'kind'>, hasEnded: boolean): number => {
  if (hasEnded) return hour;
  return kind === 'silence' ? 5 * minute : quarter;
};

interface CheckContext {
  readonly store: Pick<Store, 'countEvents'>;
  readonly runReport: RunReport;
  readonly now: number;
  readonly signal: AbortSignal;
}

/** Reads counts by quarters of an hour, not events. A new alert waits for its hours to pass. */
const checkSilence = async (
  { account, settings: { hours = 1 }, reports, createdTime }: DueNotification,
  { store, now }: CheckContext,
): Promise<AlertCheck> => {
  const from = now - hours * hour;
  const { eventID, eventName } = (reports[0]?.request ?? {}) as { eventID?: number; eventName?: string };
  const edges = [Math.floor(from / quarter), Math.ceil((now + maxAheadMilliseconds) / quarter)].map(
    (quarters) => quarters * quarter,
  );
  const [bucket] = await store.countEvents({ account, eventID, eventName, edges, users: false });
  const count = bucket?.events ?? 0;
  return { isActive: count === 0 && createdTime <= from, count };
};

export const checkAlert = async (notification: DueNotification, context: CheckContext): Promise<AlertCheck> => {
  const { kind, reports } = notification;
  if (kind === 'silence') return checkSilence(notification, context);
  const { period = 'day', measure = 'people', below, above, percent = 100 } = notification.settings;
  const { runReport, now: time, signal } = context;
  const range = { from: time - (period === 'day' ? day : hour), to: time };
  const fields = { ...reports[0]?.request, ...range, ...(kind === 'drop' && { compare: 'week' }) };
  const { total, earlier } = await runReport('reportTotals', fields, { account: notification, time, signal });
  const count = total[measure];
  if (kind === 'threshold')
    return { isActive: (below !== undefined && count < below) || (above !== undefined && count > above), count };
  const before = earlier?.total[measure] ?? 0;
  const isActive = before >= minEarlierCount && count <= before * (1 - percent / 100);
  return { isActive, count, earlier: before };
};
