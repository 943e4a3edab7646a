import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createNotification, createRecipient } from '../../../test/fixtures/notifications.ts';
import { createSite, type Site } from '../../../test/fixtures/site.ts';
import { decodeHeader, type SmtpServer, startSmtpServer } from '../../../test/fixtures/smtp-server.ts';
import { openMemoryStore } from '../../store/sqlite/store.ts';
import type { NewNotification } from '../../store/store.ts';
import { createMailer } from './mailer.ts';
import type { RunReport } from './run-report.ts';
import { nextDigestTime } from './schedule.ts';
import { createNotificationRuns } from './scheduler.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const root = 'https://console.shop.example/s';

let site: Site;
let smtp: SmtpServer;
/** The time of the servers, which tests advance. */
let time: number;
/** What is counted now, and a week earlier. */
let counts: { people: number; earlier: number };
let reports: { operation: string; fields: Record<string, unknown> }[];
const errors: unknown[] = [];
const signal = new AbortController().signal;

beforeEach(async () => {
  site = await createSite(openMemoryStore());
  smtp = await startSmtpServer();
  time = site.time;
  counts = { people: 12, earlier: 24 };
  reports = [];
  errors.length = 0;
});
afterEach(async () => {
  await smtp.close();
  await site.store.close();
  expect(errors).toEqual([]);
});

const countsOf = (people: number) => ({ events: people * 3, users: people, people, sessions: people });
const runReport: RunReport = async (operation, fields) => {
  reports.push({ operation, fields });
  const { people, earlier } = counts;
  const { from, to } = fields as { from: number; to: number };
  const range = { from: new Date(from).toISOString(), to: new Date(to).toISOString(), timezone: 'UTC' };
  const interval = { from: range.from, to: range.to, ...countsOf(people) };
  const totals = {
    ...range,
    total: countsOf(people),
    earlier: { ...range, total: countsOf(earlier) },
    interval: [interval],
  };
  const row = [
    { values: ['/<b>&"\u202egpj.exe\u0000\r\nBcc: x@y.example'], ...countsOf(5) },
    { values: [null], ...countsOf(2) },
  ];
  const breakdown = { ...range, total: countsOf(7), row, others: { groups: 3, ...countsOf(1) } };
  const funnel = { ...range, step: [{ reached: 10 }, { reached: 4 }] };
  const responses: Record<string, unknown> = { reportTotals: totals, reportBreakdown: breakdown, reportFunnel: funnel };
  return responses[operation] as never;
};

const mailFrom = { name: 'Firsthand', address: 'reports@shop.example' };
const log = { warn: () => {}, error: (fields: unknown) => errors.push(fields) };
/** Returns a server, which shares the database with the others. */
const newServer = (changes: Partial<Parameters<typeof createNotificationRuns>[0]> = {}) => {
  const mailer = createMailer({ smtpURL: new URL(`smtp://127.0.0.1:${smtp.port}`), mailFrom });
  const options = { store: site.store, runReport, mailer, root, log, now: () => time, ...changes };
  const { checkDue, sendDue } = createNotificationRuns(options);
  return {
    async run(at = time) {
      time = at;
      await checkDue(signal);
      await sendDue(signal);
    },
  };
};

const find = async ({ notificationID }: Pick<NewNotification, 'notificationID'>) => {
  const all = await site.store.listNotifications({ account: site.account, by: null });
  return all.find((each) => each.notificationID === notificationID);
};

const createDigest = async (changes: Partial<NewNotification> = {}) => {
  const ann = await createRecipient(site);
  const settings = { every: 'day', hour: 8 } as const;
  const dueTime = nextDigestTime(changes.settings ?? settings, 'UTC', site.time);
  const notification = await createNotification(site, { recipients: [ann.memberID], settings, dueTime, ...changes });
  return { ...notification, ann };
};

const subjects = () => smtp.mails.map(({ headers }) => decodeHeader(headers.subject as string));

describe('a confirmation', () => {
  it('is sent to an address at most three times a day, even if its member is removed and invited again', async () => {
    const { store, account } = site;
    const server = newServer();
    const emailaddress = 'ben@bystander.example';
    for (let nth = 0; nth < 5; nth += 1) {
      const { memberID } = await createRecipient(site, { isConfirmed: false, emailaddress });
      const notification = await createNotification(site, { recipients: [memberID] });
      await server.run();
      const failure = nth < 3 ? '' : 'an address has received three confirmations in a day';
      expect((await find(notification))?.lastFailure).toBe(failure);
      await store.removeMember({ account, memberID, time });
    }
    expect(smtp.mails.map(({ to }) => to)).toEqual([emailaddress, emailaddress, emailaddress]);
  });
});

describe('a digest', () => {
  it('is sent once, when it is due, and again a day later', async () => {
    const { ann, dueTime } = await createDigest();
    const server = newServer();
    await server.run(dueTime - 1);
    expect(smtp.mails).toEqual([]);
    await server.run(dueTime);
    await server.run(dueTime + minute);
    expect(smtp.mails).toMatchObject([{ to: ann.emailaddress }]);
    await server.run(dueTime + day);
    expect(smtp.mails).toHaveLength(2);
    expect(new Set(smtp.mails.map(({ headers }) => headers['message-id'])).size).toBe(2);
  });

  it('is sent once by several servers, and after a restart', async () => {
    const { dueTime } = await createDigest();
    const servers = [newServer(), newServer(), newServer(), newServer()];
    time = dueTime;
    await Promise.all(servers.map((server) => server.run()));
    await newServer().run(dueTime + hour);
    expect(smtp.mails).toHaveLength(1);
  });

  it('is sent once after an outage of several days', async () => {
    const { dueTime } = await createDigest();
    await newServer().run(dueTime + 5 * day + hour);
    expect(smtp.mails).toHaveLength(1);
  });

  it('is sent a second time with the same Message-ID if a server dies before it records that it was sent', async () => {
    const { dueTime } = await createDigest();
    const recordMail = () => Promise.reject(new Error('killed'));
    const dying = newServer({ store: { ...site.store, recordMail } });
    await expect(dying.run(dueTime)).rejects.toThrow('killed');
    const server = newServer();
    await server.run(dueTime + 9 * minute);
    expect(smtp.mails).toHaveLength(1);
    for (const minutes of [10, 11, 30, 60]) await server.run(dueTime + minutes * minute);
    expect(smtp.mails).toHaveLength(2);
    expect(new Set(smtp.mails.map(({ headers }) => headers['message-id'])).size).toBe(1);
  });

  it('has the figures as text and as HTML without remote content, and text of visitors is inert', async () => {
    const reportsOfMail: NewNotification['reports'] = [
      { title: 'Measures', operation: 'reportTotals', request: {} },
      { title: 'Pages', operation: 'reportBreakdown', request: { by: 'attr:path' } },
      { title: 'Funnel', operation: 'reportFunnel', request: { step: [{ event: 'Seen' }, { event: 'Paid' }] } },
    ];
    const { dueTime, notificationID, ann } = await createDigest({
      notificationName: 'Téapots <i>',
      settings: { every: 'week' },
      reports: reportsOfMail,
    });
    await newServer().run(dueTime);
    const [mail] = smtp.mails;
    if (!mail) throw new Error('no mail');
    const { headers, text, html, source } = mail;
    expect(subjects()).toEqual([expect.stringMatching(/^Téapots <i>: \w{3} \d+ – /)]);
    expect(text).toContain('People: 12 (−50 %)');
    expect(text).toContain('(none)');
    expect(text).toContain('and 3 more');
    expect(text).toContain('4 (40 %)  Paid');
    expect(html).toContain('Téapots &lt;i&gt;');
    expect(html).toContain('/&lt;b&gt;&amp;&quot;gpj.exe Bcc: x@y.example');
    for (const body of [text, html]) expect(body).not.toMatch(/[\u202e\0\r]/);
    expect(html).not.toMatch(/<(?:img|script|link|style|iframe|form)|url\(|src=|@import/i);
    expect(html.match(/https?:\/\/[^"\s]+/g)?.every((url) => url.startsWith(`${root}/console/`))).toBe(true);
    expect(Object.keys(headers)).not.toContain('bcc');
    expect(source.split('\r\n').filter((line) => /^bcc:/i.test(line))).toEqual([]);
    const unsubscribe = `<${root}/console/unsubscribe/${notificationID}/${ann.memberID}/`;
    expect(headers['list-unsubscribe']?.startsWith(unsubscribe)).toBe(true);
    expect(headers).toMatchObject({
      from: 'Firsthand <reports@shop.example>',
      to: ann.emailaddress,
      'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
      'auto-submitted': 'auto-generated',
      'message-id': expect.stringMatching(/^<[\w-]{32}@shop\.example>$/),
    });
  });

  it('covers the days before it, whatever range the requests of its reports have', async () => {
    const { dueTime } = await createDigest({
      settings: { every: 'week', weekday: 1 },
      reports: [{ title: 'Pages', operation: 'reportBreakdown', request: { by: 'attr:path', limit: 500 } }],
    });
    await newServer().run(dueTime);
    const [{ fields } = { fields: {} }] = reports;
    const { from, to, limit } = fields as { from: number; to: number; limit: number };
    expect(to - from).toBe(7 * day);
    expect(new Date(to).getUTCDay()).toBe(1);
    expect(to).toBeLessThanOrEqual(dueTime);
    expect(limit).toBe(10);
  });

  it('runs its reports once for all recipients, and sends each recipient a separate mail', async () => {
    const [ann, ben] = [await createRecipient(site), await createRecipient(site)];
    const { dueTime } = await createDigest({ recipients: [ann.memberID, ben.memberID] });
    await newServer().run(dueTime);
    expect(smtp.mails.map(({ to }) => to).sort()).toEqual([ann.emailaddress, ben.emailaddress].sort());
    expect(reports).toHaveLength(1);
    expect(new Set(smtp.mails.map(({ headers }) => headers['list-unsubscribe'])).size).toBe(2);
  });

  it('is not sent to members who have not confirmed, have unsubscribed, or were removed', async () => {
    const [ann, ben] = [await createRecipient(site), await createRecipient(site)];
    const cleo = await createRecipient(site, { isConfirmed: false });
    const recipients = [ann, ben, cleo].map(({ memberID }) => memberID);
    const { dueTime, notificationID } = await createDigest({ recipients });
    smtp.answer = '451 later';
    await newServer().run(dueTime);
    smtp.answer = '250 ok';
    const { store, account } = site;
    await store.setRecipient({ notificationID, memberID: ann.memberID, isRecipient: false, time });
    await store.removeMember({ account, memberID: ben.memberID, time });
    await newServer().run(dueTime + hour);
    expect(smtp.mails.map(({ to }) => to)).toEqual([cleo.emailaddress]);
    expect(subjects()).toEqual([expect.stringContaining('Confirm your e-mail address')]);
    expect((await find({ notificationID }))?.waiting).toBe(0);
  });
});

describe('a mail that the server does not accept', () => {
  it('is retried six times within a day, and its failure is listed', async () => {
    const notification = await createDigest();
    const { dueTime } = notification;
    smtp.answer = '550 no such <mailbox>';
    const server = newServer();
    for (let minutes = 0; minutes < 20 * 60; minutes += 5) await server.run(dueTime + minutes * minute);
    const found = await find(notification);
    expect(found?.lastFailure).toContain('550 no such <mailbox>');
    expect(found).toMatchObject({ waiting: 0, lastSentTime: null });
    smtp.answer = '250 ok';
    await server.run(dueTime + 23 * hour);
    expect(smtp.mails).toEqual([]);
  });

  it('is sent when the mail server is back', async () => {
    const notification = await createDigest();
    const { port } = smtp;
    await smtp.close();
    const server = newServer();
    await server.run(notification.dueTime);
    expect((await find(notification))?.lastFailure).toContain('ECONNREFUSED');
    smtp = await startSmtpServer();
    expect(smtp.port).not.toBe(port);
    await newServer().run(notification.dueTime + 10 * minute);
    expect(smtp.mails).toHaveLength(1);
    expect(await find(notification)).toMatchObject({ waiting: 0, lastSentTime: time });
  });

  it('holds up no others: a mail server that is down is tried once per run', async () => {
    const recipients = [];
    for (let nth = 0; nth < 5; nth += 1) recipients.push((await createRecipient(site)).memberID);
    const { dueTime } = await createDigest({ recipients });
    await smtp.close();
    let attempts = 0;
    const mailer = createMailer({ smtpURL: new URL(`smtp://127.0.0.1:${smtp.port}`), mailFrom });
    const send: typeof mailer.send = (mail) => {
      attempts += 1;
      return mailer.send(mail);
    };
    await newServer({ mailer: { send } }).run(dueTime);
    expect(attempts).toBe(1);
    smtp = await startSmtpServer();
  });
});

describe('an alert', () => {
  const createAlert = async (changes: Partial<NewNotification>) => {
    const ann = await createRecipient(site);
    return createNotification(site, { recipients: [ann.memberID], dueTime: site.time, ...changes });
  };
  /** Runs a server every five minutes until a time. */
  const runUntil = async (end: number) => {
    const server = newServer();
    while (time < end) await server.run(time + 5 * minute);
  };

  it('of silence sends one mail when events stop, and one when they return', async () => {
    await createAlert({ kind: 'silence', settings: { hours: 2 }, notificationName: 'The shop is silent' });
    const start = time;
    await site.browser.logAt(start + hour, { eventTime: start + hour });
    await runUntil(start + 2.9 * hour);
    expect(smtp.mails).toEqual([]);
    await runUntil(start + 3.5 * hour);
    expect(subjects()).toEqual(['Alert: The shop is silent: no events for 2 hours']);
    await runUntil(start + 9 * hour);
    expect(smtp.mails).toHaveLength(1);
    await site.browser.logAt(time, { eventTime: time });
    await runUntil(time + 10 * minute);
    expect(subjects()).toHaveLength(2);
    expect(subjects()[1]).toBe('Ended: The shop is silent');
    expect(smtp.mails[1]?.text).toContain('Counted: 1 event.');
    expect(reports).toEqual([]);
  });

  it('of silence begins no earlier than its hours after it was created', async () => {
    await createAlert({ kind: 'silence', settings: { hours: 2 } });
    await runUntil(site.time + 2 * hour - 6 * minute);
    expect(smtp.mails).toEqual([]);
    await runUntil(site.time + 2.2 * hour);
    expect(smtp.mails).toHaveLength(1);
  });

  it('of silence can be about one event', async () => {
    const request = { eventName: 'Paid' };
    const report = { title: 'Measures', operation: 'reportTotals', request } as const;
    await createAlert({ kind: 'silence', settings: { hours: 1 }, reports: [report] });
    const log = (eventName: string) =>
      site.server.logAt(time, { eventTime: time, eventID: null, eventName, eventUUID: `${eventName}-${time}` });
    for (let nth = 0; nth < 3; nth += 1) {
      await log('Paid');
      await runUntil(time + 0.5 * hour);
    }
    expect(smtp.mails).toEqual([]);
    for (let nth = 0; nth < 4; nth += 1) {
      await log('Seen');
      await runUntil(time + 0.5 * hour);
    }
    expect(smtp.mails).toHaveLength(1);
  });

  it('of a threshold begins and ends once, not with each check', async () => {
    await createAlert({ kind: 'threshold', settings: { period: 'hour', measure: 'people', below: 10 } });
    await runUntil(site.time + hour);
    expect(smtp.mails).toEqual([]);
    counts.people = 9;
    await runUntil(site.time + 4 * hour);
    expect(subjects()).toEqual(['Alert: Teapots: fewer than 10 people in the last hour']);
    counts.people = 10;
    await runUntil(site.time + 5 * hour);
    expect(subjects()).toHaveLength(2);
    expect(reports.every(({ fields }) => Number(fields.to) - Number(fields.from) === hour)).toBe(true);
  });

  it('sends at most one pair of mails an hour if its condition changes at each check', async () => {
    await createAlert({ kind: 'threshold', settings: { period: 'day', measure: 'events', above: 30 } });
    const server = newServer();
    for (let nth = 0; nth < 12 * 12; nth += 1) {
      counts.people = counts.people === 12 ? 8 : 12;
      await server.run(time + 5 * minute);
    }
    expect(smtp.mails.length).toBeGreaterThan(4);
    expect(smtp.mails.length).toBeLessThanOrEqual(24);
  });

  it('of a drop compares with the week before, and needs ten people then', async () => {
    await createAlert({ kind: 'drop', settings: { period: 'day', percent: 50 } });
    await newServer().run(time);
    expect(subjects()).toEqual(['Alert: Teapots: at least 50 % fewer people than a week before, in the last 24 hours']);
    expect(reports[0]?.fields).toMatchObject({ compare: 'week' });
    counts = { people: 0, earlier: 9 };
    await runUntil(time + hour);
    expect(subjects().at(-1)).toBe('Ended: Teapots');
  });

  it('is checked by one server', async () => {
    await createAlert({ kind: 'threshold', settings: { period: 'hour', above: 1 } });
    await Promise.all([1, 2, 3, 4].map(() => newServer().run()));
    expect(smtp.mails).toHaveLength(1);
  });

  it('that cannot be checked lists why, and is checked again', async () => {
    const { Refusal } = await import('../../shared/refusal.ts');
    const alert = await createAlert({ kind: 'threshold', settings: { period: 'hour', above: 1 } });
    const failing: RunReport = () => Promise.reject(new Refusal('report_too_slow'));
    await newServer({ runReport: failing }).run();
    const found = await find(alert);
    expect(found?.lastFailure).toContain('the condition could not be checked: the report exceeded its time limit');
    expect(found?.dueTime).toBe(time + 15 * minute);
    await newServer().run(time + 15 * minute);
    expect(smtp.mails).toHaveLength(1);
  });
});
