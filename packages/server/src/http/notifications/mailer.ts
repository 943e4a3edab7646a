/** Sends mails over SMTP. */
import { createTransport } from 'nodemailer';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The same in all attempts. */
  readonly mailID: string;
  /** Unsubscribes the recipient with a POST request (RFC 8058). */
  readonly unsubscribeURL?: string | undefined;
}

export interface Mailer {
  /** Rejects if the server does not accept the mail. */
  readonly send: (mail: Mail) => Promise<void>;
}

/** Short, because stopping the server waits for the mail in progress. */
const timeouts = { dnsTimeout: 10_000, connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 };

const isLoopback = (host: string): boolean => /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(host);

/** Returns whether an error of `send` is the answer of the server to this mail, not a failure to reach the server. */
export const isAnswer = (error: unknown): boolean =>
  typeof (error as { responseCode?: unknown } | null)?.responseCode === 'number';

export const createMailer = ({
  smtpURL,
  mailFrom,
}: {
  readonly smtpURL: URL;
  readonly mailFrom: { readonly name: string; readonly address: string };
}): Mailer => {
  const { protocol, hostname, port, username, password } = smtpURL;
  const secure = protocol === 'smtps:';
  const user = decodeURIComponent(username);
  const transport = createTransport({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    // Never sends a password unencrypted over a network.
    requireTLS: user !== '' && !isLoopback(hostname),
    ...(user !== '' && { auth: { user, pass: decodeURIComponent(password) } }),
    ...timeouts,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const domain = mailFrom.address.slice(mailFrom.address.lastIndexOf('@') + 1);
  return {
    async send({ to, subject, text, html, mailID, unsubscribeURL }) {
      await transport.sendMail({
        from: mailFrom,
        to: { name: '', address: to },
        ...{ subject, text, html, messageId: `<${mailID}@${domain}>` },
        headers: {
          'Auto-Submitted': 'auto-generated',
          ...(unsubscribeURL !== undefined && {
            'List-Unsubscribe': `<${unsubscribeURL}>`,
            'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
          }),
        },
      });
    },
  };
};
