/** Creates, changes and lists notifications. */
import { check, findUnknownParameter } from '@firsthand/contract/checking';
import { limits } from '@firsthand/contract/limits';
import type { MailedOperation, NotificationSettings } from '@firsthand/contract/notification';
import { type InputOf, type OutputOf, operations } from '@firsthand/contract/operations';
import { nanoid } from 'nanoid';
import { Refusal } from '../../shared/refusal.ts';
import type { ListedNotification, MailedReport, Notification, Store } from '../../store/store.ts';
import { accountOf, actorOf, auditFieldsOf, type Caller, type Handlers } from '../access/caller.ts';
import { nextDigestTime } from '../notifications/schedule.ts';
import { refusalOf } from '../operation-route.ts';
import { isoTime } from '../responses/iso-time.ts';
import type { CheckReport } from './reports/reports.ts';

/** The fields that a notification sets, or that a mail does not show. */
const replacedFields = new Set(['from', 'to', 'timezone', 'compare', 'interval', 'visits', 'times']);
const replacedInFunnels = new Set(['by', 'limit']);

/** A range to check requests with. */
const anyRange = { from: 0, to: 7 * 86_400_000 };

/** Checks reports as their operations would. Rejects with a Refusal that identifies the field. */
const toMailedReports = async (
  reports: InputOf<'createNotification'>['report'],
  checkReport: CheckReport,
  caller: Caller,
): Promise<MailedReport[]> => {
  const { access, time } = caller;
  const mailed: MailedReport[] = [];
  for (const [nth, { title, operation, request: fields }] of reports.entries()) {
    const at = `report[${nth}].request`;
    const { input } = operations[operation];
    const unknown = findUnknownParameter(operation, input, fields);
    if (unknown !== undefined || Object.hasOwn(fields, 'tokenUUID')) {
      const field = `${at}.${unknown?.field ?? 'tokenUUID'}`;
      throw new Refusal('invalid_field', { field, message: `\`${field}\` is not a field of ${operation}` });
    }
    const isReplaced = (name: string) =>
      replacedFields.has(name) || (operation === 'reportFunnel' && replacedInFunnels.has(name));
    const request = Object.fromEntries(Object.entries(fields).filter(([name]) => !isReplaced(name)));
    const checked = check<InputOf<MailedOperation>>(input, { ...request, ...anyRange }, at);
    if (!checked.ok) throw refusalOf(checked.problem);
    const { accountOrigin, accountTimezone: zone } = access;
    const context = { account: accountOf(caller), accountOrigin, zone, time };
    await checkReport(operation, { ...context, sent: checked.value }).catch((error: unknown) => {
      if (!(error instanceof Refusal) || error.field === undefined) throw error;
      throw new Refusal(error.code, { field: `${at}.${error.field}`, message: error.message });
    });
    mailed.push({ title, operation, request });
  }
  if (Buffer.byteLength(JSON.stringify(mailed)) <= limits.notificationBytes) return mailed;
  const max = limits.notificationBytes.toLocaleString('en');
  throw new Refusal('invalid_field', { field: 'report', message: `\`report\` must be at most ${max} bytes of JSON` });
};

type ListedOutput = OutputOf<'listNotifications'>['notification'][number];

const toListed = (notification: ListedNotification): ListedOutput => {
  const { notificationID, notificationName, kind, settings, page, query, reports, recipients } = notification;
  const { state, dueTime, activeSince, waiting, lastSentTime, lastFailureTime } = notification;
  return {
    ...{ notificationID, notificationName, kind, ...settings, viewPage: page, viewQuery: query },
    title: reports.map(({ title }) => title),
    recipient: [...recipients],
    state,
    ...(state === 'active' && { dueTime: isoTime(dueTime) }),
    ...(activeSince !== null && { activeSinceTime: isoTime(activeSince) }),
    waiting,
    ...(lastSentTime !== null && { lastSentTime: isoTime(lastSentTime) }),
    ...(lastFailureTime !== null && { lastFailureTime: isoTime(lastFailureTime) }),
    lastFailure: notification.lastFailure,
    createdTime: isoTime(notification.createdTime),
    updatedTime: isoTime(notification.updatedTime),
  };
};

/** Returns when a notification that becomes active is first due. An alert is checked immediately. */
const firstDueTime = ({ kind, settings }: Pick<Notification, 'kind' | 'settings'>, { access, time }: Caller): number =>
  kind === 'digest' ? nextDigestTime(settings, access.accountTimezone, time) : time;

/** `mail`: whether the server can send mails. */
export const createNotifications = (
  store: Store,
  checkReport: CheckReport,
  { mail }: { readonly mail: boolean },
): Handlers<'createNotification' | 'listNotifications' | 'updateNotification' | 'deleteNotification'> => {
  const requireMail = (): void => {
    if (!mail) throw new Refusal('no_mail');
  };

  return {
    createNotification: async (input, caller) => {
      requireMail();
      const { notificationName, kind, viewPage: page = 'overview', viewQuery: query = '', report, recipient } = input;
      const { every, hour, weekday, hours, period, measure, below, above, percent } = input;
      const settings: NotificationSettings = JSON.parse(
        JSON.stringify({ every, hour, weekday, hours, period, measure, below, above, percent }),
      );
      const reports = await toMailedReports(report, checkReport, caller);
      const notificationID = nanoid();
      const dueTime = firstDueTime({ kind, settings }, caller);
      const recipients = recipient && [...new Set(recipient)];
      const values = { notificationID, notificationName, kind, settings, page, query, reports, recipients, dueTime };
      await store.createNotification({ ...values, ...auditFieldsOf(caller) });
      return { notificationID };
    },

    listNotifications: async (_, caller) => {
      const notifications = await store.listNotifications({ account: accountOf(caller), by: actorOf(caller) });
      return { mail, notification: notifications.map(toListed) };
    },

    updateNotification: async ({ notificationID, notificationName, recipient, state }, caller) => {
      if (recipient && recipient.length > 0) requireMail();
      const existing = await store.listNotifications({ account: accountOf(caller), by: null });
      const before = existing.find((each) => each.notificationID === notificationID);
      if (!before) throw new Refusal('unknown_notification', { field: 'notificationID' });
      const changesState = state !== undefined && state !== before.state;
      const changes = {
        ...(notificationName !== undefined && { notificationName }),
        ...(recipient && { recipients: [...new Set(recipient)] }),
        ...(changesState && { state, dueTime: firstDueTime(before, caller) }),
      };
      await store.updateNotification({ notificationID, changes, ...auditFieldsOf(caller) });
      return { notificationID };
    },

    deleteNotification: async ({ notificationID }, caller) => {
      await store.deleteNotification({ notificationID, ...auditFieldsOf(caller) });
      return { notificationID };
    },
  };
};
