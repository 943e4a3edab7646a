/** Tests a server that sends e-mails: sends an alert about a real report, and follows the guide's links. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { serve } from '../../src/serving/serve.ts';
import { type SmtpServer, startSmtpServer } from '../fixtures/smtp-server.ts';
import { soon } from '../fixtures/timeouts.ts';

let smtp: SmtpServer;
let folder: string;
beforeAll(async () => {
  smtp = await startSmtpServer();
  folder = mkdtempSync(join(tmpdir(), 'firsthand-mails-'));
});
afterAll(async () => {
  await smtp.close();
  rmSync(folder, { recursive: true });
});

const operatorToken = 'operator_of_the_mails_000000000';
const consoleOrigin = 'https://console.shop.example';
const start = () => {
  const env = {
    ...{ DATABASE_URL: `sqlite:${join(folder, 'firsthand.db')}`, PORT: '0', LOG_LEVEL: 'silent' },
    ...{ OPERATOR_TOKEN: operatorToken, CONSOLE_ORIGIN: consoleOrigin },
    ...{ SMTP_URL: `smtp://127.0.0.1:${smtp.port}`, MAIL_FROM: 'Firsthand <reports@shop.example>' },
  };
  return serve(readConfig(env));
};

// biome-ignore lint/suspicious/noExplicitAny: a test has checked what it reads of a response, or will fail on it.
const call = async (url: string, fields: object, headers: Record<string, string> = {}): Promise<any> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(fields),
  });
  const body = await response.json();
  if (!response.ok) throw new Error(JSON.stringify(body));
  return body;
};

/** The path of a link to the console in an e-mail. */
const linkIn = (text: string, name: string): string =>
  new RegExp(`${name}: ${consoleOrigin}(\\S+)`).exec(text)?.[1] ?? '';

const mailsOnceThereAre = (count: number) => vi.waitFor(() => expect(smtp.mails).toHaveLength(count), soon);

it('asks a member to confirm, sends an alert once across restarts, and stops after the member unsubscribes', async () => {
  let { url, close } = await start();
  const { serverTokenUUID: tokenUUID } = await call(`${url}/account/createAccount`, {
    ...{ tokenUUID: operatorToken, accountName: 'Shop' },
  });
  const { memberID, invitationCode: code } = await call(`${url}/account/inviteMember`, {
    ...{ tokenUUID, memberEmailaddress: 'ann@shop.example', memberRole: 'viewer' },
  });
  const accepted = { code, memberName: 'Ann', password: 'a long password of Ann' };
  const ofConsole = { 'X-Firsthand-Console': '1', Origin: url };
  await call(`${url}/console/accept`, accepted, ofConsole);
  await call(`${url}/event/logEvent`, { tokenUUID, userUUID: 'visitor-number-0001', eventName: 'Paid' });
  const notification = {
    ...{ notificationName: 'Many people', kind: 'threshold', period: 'day', above: 0, recipient: [memberID] },
    report: [{ title: 'Measures', operation: 'reportTotals', request: { eventName: 'Paid' } }],
  };
  const { notificationID } = await call(`${url}/notification/createNotification`, { tokenUUID, ...notification });
  const list = async () => {
    const response = await fetch(`${url}/notification/listNotifications?tokenUUID=${tokenUUID}`);
    const { notification: listed } = (await response.json()) as { notification: Record<string, unknown>[] };
    return listed[0];
  };

  // A server checks what is due when it starts, and every minute.
  const restart = async () => {
    await close();
    ({ url, close } = await start());
  };
  await restart();
  await mailsOnceThereAre(1);
  expect(smtp.mails[0]).toMatchObject({
    to: 'ann@shop.example',
    headers: { subject: 'Confirm your e-mail address for Shop' },
  });
  expect(await list()).toMatchObject({ notificationID, recipient: [{ memberID, confirmed: false }] });
  const confirmed = await fetch(url + linkIn(smtp.mails[0]?.text ?? '', 'Confirm'), { method: 'POST' });
  expect(await confirmed.text()).toContain('Your address is confirmed');

  // The condition began before the member confirmed; it begins again after a pause.
  const setState = (state: string) =>
    call(`${url}/notification/updateNotification`, { tokenUUID, notificationID, state });
  await setState('paused');
  await setState('active');
  await restart();
  await mailsOnceThereAre(2);
  const [, alert] = smtp.mails;
  expect(alert?.headers.subject).toBe('Alert: Many people: more than 0 people in the last 24 hours');
  expect(alert?.text).toContain('Counted: 1 people.');
  await restart();
  await vi.waitFor(
    async () => expect(await list()).toMatchObject({ waiting: 0, lastSentTime: expect.any(String) }),
    soon,
  );
  expect(smtp.mails).toHaveLength(2);

  const unsubscribe = linkIn(alert?.text ?? '', 'Unsubscribe');
  const oneClick = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' });
  expect((await fetch(url + unsubscribe, { method: 'POST', body: oneClick })).status).toBe(200);
  expect(await list()).toMatchObject({ recipient: [] });
  await close();
});
