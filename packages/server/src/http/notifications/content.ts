/** Builds the content of mails. */
import type { NotificationSettings } from '@firsthand/contract/notification';
import type { OutputOf } from '@firsthand/contract/operations';
import type { DueMail, MailedReport, Occasion } from '../../store/store.ts';
import { cleanText } from '../mcp/clean-text.ts';
import { consoleLink, rangeParameters } from '../mcp/console-links.ts';
import { isoTime } from '../responses/iso-time.ts';
import { type Content, type Row, type Section, toNumberText } from './render.ts';
import type { RunReport } from './run-report.ts';
import { rangeOfDigest } from './schedule.ts';

const rowsPerBreakdown = 10;
const maxLabelLength = 80;

/** Returns a text that visitors may have sent, on one line and without invisible characters. */
const toLabel = (text: string): string => {
  const clean = cleanText(text);
  return clean.length > maxLabelLength ? `${clean.slice(0, maxLabelLength - 1).toWellFormed()}…` : clean;
};

/** What a mail contains, and its subject. */
export interface MailContent extends Omit<Content, 'footer'> {
  readonly subject: string;
}

type Notification = Omit<DueMail, 'mailID' | 'memberID' | 'occasion' | 'attempts' | 'nextTime' | 'member'>;

interface Context {
  readonly runReport: RunReport;
  /** The base URL of the console, without a trailing slash. */
  readonly root: string;
  readonly signal: AbortSignal;
}

const describeChange = (now: number, before: number | undefined): string => {
  if (before === undefined || (before === 0 && now === 0)) return '';
  if (before === 0) return 'new';
  const percent = Math.round((now / before - 1) * 100);
  return percent === 0 ? '±0 %' : `${percent > 0 ? '+' : '−'}${toNumberText(Math.abs(percent))} %`;
};

type Totals = OutputOf<'reportTotals'>;

const toTotals = ({ total, interval = [], earlier, timezone }: Totals): Omit<Section, 'title'> => {
  const before = earlier?.total;
  const figures = (['people', 'sessions', 'events'] as const).map((name) => ({
    label: name[0]?.toUpperCase() + name.slice(1),
    value: toNumberText(total[name]),
    change: describeChange(total[name], before?.[name]),
  }));
  const { value } = total;
  const sum = { label: 'Sum', value: toNumberText(value?.sum ?? 0), change: '' };
  const weekday = new Intl.DateTimeFormat('en', {
    weekday: 'short',
    month: 'short',
    day: 'numeric',
    timeZone: timezone,
  });
  return {
    figures: value
      ? [...figures, { ...sum, change: describeChange(value.sum ?? 0, before?.value?.sum ?? undefined) }]
      : figures,
    rows: interval.map(({ from, people }) => ({ label: weekday.format(Date.parse(from)), value: people })),
    ...(interval.length > 0 && { note: 'People by day' }),
  };
};

const labelOf = (value: string | null): string =>
  value === null ? '(none)' : value === '' ? '(empty)' : toLabel(value);

const toBreakdown = ({ row, others }: OutputOf<'reportBreakdown'>, request: MailedReport['request']) => {
  const { sort = 'people' } = request as { sort?: 'events' | 'users' | 'people' | 'sessions' };
  const rows = row.map(({ values, eventName, ...counts }): Row => {
    const label = eventName === undefined ? values.map(labelOf).join(' · ') : toLabel(eventName);
    return { label, value: counts[sort] };
  });
  const more = others?.groups ?? 0;
  const note = rows.length === 0 ? 'None' : more > 0 ? `and ${toNumberText(more)} more` : undefined;
  return { rows, ...(note !== undefined && { note }) };
};

/** Returns the name of a funnel's step: its event, if it has one. */
const nameStep = (step: unknown, nth: number): string => {
  const event = [(step as { event?: unknown } | undefined)?.event].flat()[0];
  return event === undefined ? `Step ${nth + 1}` : toLabel(String(event));
};

const toFunnel = ({ step }: OutputOf<'reportFunnel'>, request: MailedReport['request']) => {
  const [first] = step;
  const steps = (request.step ?? []) as readonly unknown[];
  const rows = step.map(({ reached }, nth): Row => {
    const share = first && first.reached > 0 ? ` (${Math.round((reached / first.reached) * 100)} %)` : '';
    return { label: nameStep(steps[nth], nth), value: reached, text: toNumberText(reached) + share };
  });
  return { rows };
};

/** Runs a report over the range of a digest. */
const runSection = async (
  { title, operation, request }: MailedReport,
  range: { from: number; to: number },
  { account, settings, context }: { account: Notification; settings: NotificationSettings; context: Context },
): Promise<Section> => {
  const run = { account, time: range.to, signal: context.signal };
  const fields = { ...request, ...range };
  if (operation === 'reportTotals') {
    const interval = settings.every === 'week' ? { interval: 'day' } : {};
    return {
      title,
      ...toTotals(await context.runReport(operation, { ...fields, ...interval, compare: 'previous' }, run)),
    };
  }
  if (operation === 'reportBreakdown') {
    const rows = await context.runReport(operation, { ...fields, limit: rowsPerBreakdown }, run);
    return { title, ...toBreakdown(rows, request) };
  }
  return { title, ...toFunnel(await context.runReport(operation, fields, run), request) };
};

const toLink = (root: string, { page, query }: Notification, range: Readonly<Record<string, string>>): string => {
  const { range: _, from: __, to: ___, ...parameters } = Object.fromEntries(new URLSearchParams(query));
  return consoleLink(root, { name: page === 'overview' ? '' : page, parameters: { ...parameters, ...range } });
};

const describeRange = (from: number, to: number, timeZone: string): string =>
  new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone }).formatRange(from, to - 1).replaceAll('\u2009', ' ');

const buildDigest = async (notification: Notification, time: number, context: Context): Promise<MailContent> => {
  const { notificationName, settings, accountTimezone, accountName, reports } = notification;
  const range = rangeOfDigest(settings, accountTimezone, time);
  const sections: Section[] = [];
  for (const report of reports)
    sections.push(await runSection(report, range, { account: notification, settings, context }));
  const { from, to } = range;
  const dates = describeRange(from, to, accountTimezone);
  const before = settings.every === 'week' ? 'the week before' : 'the day before';
  const parameters = rangeParameters({ from: isoTime(from), to: isoTime(to), timezone: accountTimezone });
  return {
    subject: `${notificationName}: ${dates}`,
    title: notificationName,
    paragraphs: [
      [accountName, dates, accountTimezone].filter((text) => text !== '').join(' · '),
      `Changes are since ${before}.`,
    ],
    sections,
    button: { label: 'Open in the console', url: toLink(context.root, notification, parameters) },
  };
};

const plural = (count: number, one: string, many = `${one}s`): string =>
  `${toNumberText(count)} ${count === 1 ? one : many}`;

/** Describes the condition of an alert, such as `fewer than 100 people in the last 24 hours`. */
const describeCondition = ({ kind, settings }: Pick<Notification, 'kind' | 'settings'>): string => {
  const { hours = 1, period, measure = 'people', below, above = 0, percent = 0 } = settings;
  const inPeriod = `in the last ${period === 'hour' ? 'hour' : '24 hours'}`;
  if (kind === 'silence') return `no events for ${plural(hours, 'hour')}`;
  if (kind === 'drop') return `at least ${percent} % fewer ${measure} than a week before, ${inPeriod}`;
  return below === undefined
    ? `more than ${toNumberText(above)} ${measure} ${inPeriod}`
    : `fewer than ${toNumberText(below)} ${measure} ${inPeriod}`;
};

const buildAlert = (
  notification: Notification,
  { type, time, since, count, earlier }: Extract<Occasion, { type: 'started' | 'ended' }>,
  { root }: Context,
): MailContent => {
  const { notificationName, kind, settings, accountName, accountTimezone: timeZone } = notification;
  const format = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short', timeZone });
  const { measure = 'people' } = settings;
  const counted = kind === 'silence' ? plural(count, 'event') : `${toNumberText(count)} ${measure}`;
  const before = earlier === undefined ? '' : `; a week before: ${toNumberText(earlier)}`;
  const condition = describeCondition(notification);
  return {
    subject: type === 'started' ? `Alert: ${notificationName}: ${condition}` : `Ended: ${notificationName}`,
    title: type === 'started' ? notificationName : `${notificationName}: the alert has ended`,
    paragraphs: [
      type === 'started' ? `The condition holds: ${condition}.` : `The condition no longer holds: ${condition}.`,
      `Counted: ${counted}${before}.`,
      type === 'ended'
        ? `It began on ${format.format(since)} and ended on ${format.format(time)}.`
        : `Noticed on ${format.format(time)}.`,
      [accountName, timeZone].filter((text) => text !== '').join(' · '),
    ],
    sections: [],
    button: { label: 'Open in the console', url: toLink(root, notification, {}) },
  };
};

const buildConfirmation = ({ notificationName, accountName }: Notification): MailContent => {
  const title = 'Confirm your e-mail address';
  return {
    subject: `${title} for ${accountName || 'Firsthand'}`,
    title,
    paragraphs: [
      `You were added to the recipients of “${notificationName}”${accountName && ` of ${accountName}`}.`,
      'Digests and alerts are sent to you after you have confirmed this address. If you did not expect this mail, ignore it.',
    ],
    sections: [],
  };
};

/** Builds the content that all recipients of a mail share. Rejects with Refusal if a report cannot be run. */
export const buildContent = async (
  notification: Notification,
  occasion: Occasion,
  context: Context,
): Promise<MailContent> => {
  const named = {
    ...notification,
    notificationName: toLabel(notification.notificationName),
    accountName: toLabel(notification.accountName),
  };
  if (occasion.type === 'digest') return buildDigest(named, occasion.time, context);
  return occasion.type === 'confirmation' ? buildConfirmation(named) : buildAlert(named, occasion, context);
};
