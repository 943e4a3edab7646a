import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { decodeHeader, type SmtpServer, startSmtpServer } from '../../../test/fixtures/smtp-server.ts';
import { createMailer, isAnswer, type Mail } from './mailer.ts';

let smtp: SmtpServer;
beforeEach(async () => {
  smtp = await startSmtpServer();
});
afterEach(() => smtp.close());

const mailFrom = { name: 'Firsthand', address: 'reports@shop.example' };
const newMailer = (changes: { user?: string; host?: string } = {}) =>
  createMailer({
    smtpURL: new URL(`smtp://${changes.user ?? ''}${changes.host ?? '127.0.0.1'}:${smtp.port}`),
    mailFrom,
  });
const mail: Mail = {
  ...{ to: 'ann@shop.example', subject: 'Teapots', text: 'Text\n', html: '<p>Text</p>', mailID: 'abc' },
};

describe('a mailer', () => {
  it('sends text and HTML, with a stable Message-ID and the header fields of RFC 8058', async () => {
    const unsubscribeURL = 'https://console.shop.example/console/unsubscribe/a/b/c';
    await newMailer().send({ ...mail, unsubscribeURL });
    expect(smtp.mails).toMatchObject([
      {
        ...{ to: 'ann@shop.example', text: 'Text', html: '<p>Text</p>' },
        headers: {
          'message-id': '<abc@shop.example>',
          'list-unsubscribe': `<${unsubscribeURL}>`,
          'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
        },
      },
    ]);
  });

  it.each(['A\r\nBcc: ben@shop.example', 'A\nX-Injected: 1\n\nbody', 'A\u2028B\u202eC', '“Ünïcode” 茶壶'.repeat(20)])(
    'adds no header field for the subject %j',
    async (subject) => {
      await newMailer().send({ ...mail, subject });
      const [received] = smtp.mails;
      const names = Object.keys(received?.headers ?? {}).sort();
      expect(names).toEqual(
        ['auto-submitted', 'content-type', 'date', 'from', 'message-id', 'mime-version', 'subject', 'to'].sort(),
      );
      const text = subject.replaceAll(/[\r\n]+/g, ' ');
      expect(decodeHeader(received?.headers.subject ?? '').replaceAll(/\s+/g, ' ')).toBe(text.replaceAll(/\s+/g, ' '));
    },
  );

  it('distinguishes an answer of the server from a server that cannot be reached', async () => {
    smtp.answer = '550 no such mailbox';
    const error = await newMailer()
      .send(mail)
      .catch((reason: unknown) => reason);
    expect([String(error), isAnswer(error)]).toEqual([expect.stringContaining('550 no such mailbox'), true]);
    await smtp.close();
    const gone = await newMailer()
      .send(mail)
      .catch((reason: unknown) => reason);
    expect([String(gone), isAnswer(gone)]).toEqual([expect.stringContaining('ECONNREFUSED'), false]);
    smtp = await startSmtpServer();
  });

  it('sends no password to a server without TLS on another machine', async () => {
    const lines: string[] = [];
    const server = createServer((socket) => {
      socket.write('220 mail.example\r\n');
      socket.on('data', (data) => {
        lines.push(String(data));
        socket.write('250-mail.example\r\n250 AUTH PLAIN LOGIN\r\n');
      });
      socket.on('error', () => {});
    });
    // Any loopback address but those that count as this machine.
    await new Promise<void>((resolve) => server.listen(0, '::ffff:127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const smtpURL = new URL(`smtp://ann:secret@[::ffff:127.0.0.1]:${port}`);
    await expect(createMailer({ smtpURL, mailFrom }).send(mail)).rejects.toThrow();
    server.close();
    const encoded = Buffer.from('\0ann\0secret').toString('base64');
    expect(lines.join('')).toContain('STARTTLS');
    expect(lines.join('')).not.toContain(encoded);
    expect(lines.join('')).not.toContain('AUTH');
  });
});
