/** Starts to send mails, if a mail server is configured. */
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { createReports } from '../http/operations/reports/reports.ts';
import type { Reports } from '../reports/queries.ts';
import type { Store } from '../store/store.ts';

interface MailOptions {
  readonly store: Store;
  readonly config: Pick<Config, 'smtpURL' | 'mailFrom'>;
  /** The report engine, and the store that it follows. */
  readonly reports: { readonly store: Store; readonly reports: Reports | undefined };
  /** The base URL of the console, without a trailing slash. */
  readonly root: string;
  readonly log: Logger;
}

/** Returns a function that stops it. */
export const startMails = async ({ store, config, reports, root, log }: MailOptions): Promise<() => Promise<void>> => {
  const { smtpURL, mailFrom } = config;
  if (!smtpURL || !mailFrom) return async () => {};
  // Loaded here, because most servers send no mails.
  const [{ createMailer }, { startNotifications }, { createRunReport }] = await Promise.all([
    import('../http/notifications/mailer.ts'),
    import('../http/notifications/scheduler.ts'),
    import('../http/notifications/run-report.ts'),
  ]);
  const { handlers } = createReports(reports.store, reports.reports);
  const mailer = createMailer({ smtpURL, mailFrom });
  return startNotifications({ store, runReport: createRunReport(handlers), mailer, root, log });
};
