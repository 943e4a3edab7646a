/**
 * Sends digests and alerts, in the background of a server. What is due is claimed in the database before anything is
 * sent, so that of several servers, one sends it. A mail whose server dies while it sends is sent once more, with the
 * same Message-ID.
 */
import type { Logger } from 'pino';
import { Refusal } from '../../shared/refusal.ts';
import { repeat } from '../../shared/repeat.ts';
import type { DueMail, DueNotification, Occasion, Store } from '../../store/store.ts';
import { createRateLimit } from '../access/rate-limits.ts';
import { cleanText } from '../mcp/clean-text.ts';
import { nextAttemptTime } from '../webhooks/schedule.ts';
import { type AlertCheck, checkAlert, pauseAfterCheck } from './alerts.ts';
import { buildContent, type MailContent } from './content.ts';
import { toLink } from './links.ts';
import { isAnswer, type Mailer } from './mailer.ts';
import { renderHTML, renderText } from './render.ts';
import type { RunReport } from './run-report.ts';
import { lastDigestTime, nextDigestTime } from './schedule.ts';

const minute = 60_000;
/** Longer than any attempt, so that no other server sends the mail. */
const claimMilliseconds = 10 * minute;
/** Attempts of a mail, which take about eight hours. */
const maxAttempts = 6;
/** Older mails are of no use. */
const maxAgeMilliseconds = 24 * 60 * minute;
/** Per e-mail address, because a member who is removed and invited again receives another confirmation. */
const confirmationRate = { perSecond: 3 / 86_400, burst: 3 };
const perPage = 100;
/** The maximum number of pages in a row, so that a fault can't cause an endless loop. */
const maxPages = 100;

type NotificationStore = Pick<
  Store,
  | 'countEvents'
  | 'getDatabaseKey'
  | 'listDueNotifications'
  | 'claimNotification'
  | 'listDueMails'
  | 'claimMail'
  | 'recordMail'
>;

interface NotificationOptions {
  readonly store: NotificationStore;
  readonly runReport: RunReport;
  readonly mailer: Mailer;
  /** The base URL of the console, without a trailing slash. */
  readonly root: string;
  readonly log: Pick<Logger, 'warn' | 'error'>;
  readonly now?: () => number;
}

const messageOf = (error: unknown): string => cleanText(error instanceof Error ? error.message : String(error));

/** A claim without the fields that identify the notification. */
type Claim = Pick<Parameters<Store['claimNotification']>[0], 'nextTime' | 'activeSince' | 'occasion' | 'failure'>;

const claimDigest = ({ settings, accountTimezone, dueTime }: DueNotification, now: number): Claim => {
  const time = lastDigestTime(settings, accountTimezone, { dueTime, now });
  return {
    nextTime: nextDigestTime(settings, accountTimezone, now),
    activeSince: null,
    occasion: { type: 'digest', time },
  };
};

const claimAlert = (notification: DueNotification, { isActive, count, earlier }: AlertCheck, time: number): Claim => {
  const { activeSince } = notification;
  const hasEnded = activeSince !== null && !isActive;
  const hasChanged = isActive !== (activeSince !== null);
  const since = activeSince ?? time;
  const occasion: Occasion = { type: hasEnded ? 'ended' : 'started', time, since, count, earlier };
  return {
    nextTime: time + pauseAfterCheck(notification, hasEnded),
    activeSince: isActive ? since : null,
    occasion: hasChanged ? occasion : null,
  };
};

export const createNotificationRuns = ({
  store,
  runReport,
  mailer,
  root,
  log,
  now = Date.now,
}: NotificationOptions) => {
  const confirmations = createRateLimit(confirmationRate, now);

  const toClaim = async (notification: DueNotification, time: number, signal: AbortSignal): Promise<Claim> => {
    if (notification.kind === 'digest') return claimDigest(notification, time);
    try {
      const check = await checkAlert(notification, { store, runReport, now: time, signal });
      return claimAlert(notification, check, time);
    } catch (err) {
      const { notificationID, activeSince } = notification;
      if (!(err instanceof Refusal)) log.error({ err, notificationID }, 'an alert could not be checked');
      const failure = `the condition could not be checked: ${messageOf(err)}`;
      return { nextTime: time + pauseAfterCheck(notification, false), activeSince, occasion: null, failure };
    }
  };

  /** Checks what is due, and adds the mails that are to be sent. */
  const checkDue = async (signal: AbortSignal): Promise<void> => {
    for (let page = 0; page < maxPages; page += 1) {
      const due = await store.listDueNotifications({ time: now(), limit: perPage });
      for (const notification of due) {
        if (signal.aborted) return;
        const time = now();
        const claim = await toClaim(notification, time, signal);
        // An aborted report is not a failure of the alert.
        if (signal.aborted) return;
        const { notificationID, dueTime } = notification;
        await store.claimNotification({ ...claim, notificationID, dueTime, time });
      }
      if (due.length < perPage) return;
    }
  };

  const sendMail = async (mail: DueMail, to: string, content: MailContent): Promise<void> => {
    const { mailID, notificationID, memberID, occasion } = mail;
    const { subject, ...parts } = content;
    const link = toLink.bind(undefined, root, await store.getDatabaseKey());
    const unsubscribeURL = link('unsubscribe', { notificationID, memberID });
    const isConfirmation = occasion.type === 'confirmation';
    const whole = {
      ...parts,
      ...(isConfirmation && { button: { label: 'Confirm', url: link('confirm', { notificationID, memberID }) } }),
      footer: [
        { text: 'Sent by Firsthand' },
        ...(isConfirmation ? [] : [{ text: 'Unsubscribe', url: unsubscribeURL }]),
      ],
    };
    const headers = isConfirmation ? {} : { unsubscribeURL };
    await mailer.send({ to, subject, text: renderText(whole), html: renderHTML(whole), mailID, ...headers });
  };

  /** Returns why a mail must not be sent any more; undefined if it may be. */
  const findObstacle = ({ member, occasion, state, recipients, memberID }: DueMail): string | undefined => {
    if (!member) return '';
    if (now() - occasion.time > maxAgeMilliseconds) return 'a mail was not sent within 24 hours and was discarded';
    if (occasion.type === 'confirmation') return undefined;
    return state === 'active' && recipients.includes(memberID) ? undefined : '';
  };

  /** Sends the mails that are due. Stops if the mail server cannot be reached. */
  const sendDue = async (signal: AbortSignal): Promise<void> => {
    /** The contents that recipients share. */
    const contents = new Map<string, Promise<MailContent>>();
    const contentOf = (mail: DueMail): Promise<MailContent> => {
      const key = `${mail.notificationID} ${JSON.stringify(mail.occasion)}`;
      const content = contents.get(key) ?? buildContent(mail, mail.occasion, { runReport, root, signal });
      contents.set(key, content);
      return content;
    };

    /** Returns whether the mail server could be reached. */
    const attempt = async (mail: DueMail): Promise<boolean> => {
      const { mailID, nextTime, notificationID } = mail;
      const obstacle = findObstacle(mail);
      const claimedUntil = now() + claimMilliseconds;
      if (!(await store.claimMail({ mailID, nextTime, until: claimedUntil }))) return true;
      const record = (result: { sent: boolean; failure?: string; nextTime: number | null }) =>
        store.recordMail({ mailID, claimedUntil, time: now(), ...result });
      if (obstacle !== undefined || !mail.member) {
        await record({ sent: false, ...(obstacle && { failure: obstacle }), nextTime: null });
        return true;
      }
      const { emailaddress } = mail.member;
      const isConfirmation = mail.occasion.type === 'confirmation';
      try {
        if (isConfirmation) confirmations.take(emailaddress);
      } catch {
        await record({ sent: false, failure: 'an address has received three confirmations in a day', nextTime: null });
        return true;
      }
      let isSending = false;
      try {
        const content = await contentOf(mail);
        isSending = true;
        await sendMail(mail, emailaddress, content);
        await record({ sent: true, nextTime: null });
        return true;
      } catch (err) {
        // A report that was aborted by the end of the server is tried again by the next one.
        const attempts = mail.attempts + 1;
        const next =
          signal.aborted && !isSending ? now() : attempts < maxAttempts ? nextAttemptTime(attempts, now(), 0) : null;
        if (isConfirmation) confirmations.refund(emailaddress);
        log.warn({ err, notificationID, attempts }, 'a mail could not be sent');
        await record({ sent: false, failure: messageOf(err), nextTime: next });
        return !isSending || isAnswer(err);
      }
    };

    for (let page = 0; page < maxPages; page += 1) {
      const due = await store.listDueMails({ time: now(), limit: perPage });
      for (const mail of due) {
        if (signal.aborted || !(await attempt(mail))) return;
      }
      if (due.length < perPage) return;
    }
  };

  return { checkDue, sendDue };
};

/**
 * Starts to check and send what is due, every minute. Returns a function that stops it and resolves after the mail in
 * progress.
 */
export const startNotifications = (options: NotificationOptions): (() => Promise<void>) => {
  const { log } = options;
  const { checkDue, sendDue } = createNotificationRuns(options);
  return repeat(async (signal) => {
    await checkDue(signal).catch((err) => log.error({ err }, 'notifications could not be checked'));
    await sendDue(signal).catch((err) => log.error({ err }, 'mails could not be sent'));
    return minute;
  });
};
