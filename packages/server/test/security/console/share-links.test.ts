/** A share link shows what was shared and nothing else, whatever its holder sends, and nothing at all once it has ended. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AnswerTo, Question } from '../../../src/reports/questions.ts';
import { Refusal } from '../../../src/shared/refusal.ts';
import { createFakeReports, type FakeReports } from '../../fixtures/reports/fake-reports.ts';
import { smallestInput } from '../../fixtures/requests.ts';
import { asText, type Fields, noRateLimits, openScene, type Scene } from '../../fixtures/scene.ts';
import { consoleOrigin, cookieFrom, fromConsole, signInWith } from '../../front-door/console/requests.ts';
import { operationPaths, readText } from '../tools/service.ts';

const day = 86_400_000;
const november = { from: '2026-11-01', to: '2026-12-01' };
const filter = { attrID: 'mail', is: 'ann@shop.example' };
const ended = 'This link is no longer valid';

let folder: string;
let reports: FakeReports;
let answer: (question: Question) => Promise<AnswerTo<Question> | undefined>;
let scene: Scene;
let time: number;

const open = (options: Parameters<typeof openScene>[0] = {}) =>
  openScene({ reports, now: () => time, consoleOrigin, files: { console: folder }, ...options });

beforeEach(async () => {
  time = Date.parse('2026-11-24T12:00Z');
  answer = async () => undefined;
  reports = createFakeReports((question) => answer(question));
  folder = mkdtempSync(join(tmpdir(), 'firsthand-console-'));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(
    join(folder, 'index.html'),
    '<script src="assets/main.js"></script><meta content="{firsthand:script-tag}">',
  );
  writeFileSync(join(folder, 'pages.json'), '["", "people"]');
  scene = await open();
});
afterEach(async () => {
  await scene.close();
  rmSync(folder, { recursive: true });
});

const report = [
  { part: 'totals', operation: 'reportTotals', request: { ...november, filter } },
  { part: 'pages', operation: 'reportBreakdown', request: { ...november, by: 'attr:path', limit: 8 } },
];
const make = async (fields: Fields = {}, { post, tokens } = scene) => {
  const made = { shareName: 'Teapots', viewPage: 'overview', report, ...fields };
  const { body } = await post('/report/createShareLink', { tokenUUID: tokens.server, ...made });
  expect(body.error).toBeUndefined();
  return body as { shareID: string; shareSecret: string };
};
const ask = (fields: Fields, headers: Record<string, string> = {}) =>
  scene.post('/console/shared/report', { part: 'totals', ...fields }, headers);
const show = (shareSecret: unknown) => scene.post('/console/shared', { shareSecret });
const questions = () => reports.asked.splice(0).map(({ question }) => question);

describe('the holder of a link', () => {
  test('learns the names of what the reports are about, whatever the address held when the link was made', async () => {
    const { server } = scene.tokens;
    const event = [5, 6, 7].map((eventID) => ({ eventID, eventName: `Secret ${eventID}` }));
    const attr = [{ attrID: 'salary', attrName: 'Salary', attrType: 'text' }];
    await scene.post('/account/updateAccount', { tokenUUID: server, event, attr });
    const viewQuery = 'tab=explore&steps=5,6&by=attr:salary&first=5&back=6&event=7&interval=week&who={}&filter=[]';
    const totals = { part: 'totals', operation: 'reportTotals', request: { ...november, eventID: 7 } };
    const { shareSecret } = await make({ viewPage: 'events', viewQuery, report: [totals] });
    const { body } = await show(shareSecret);
    expect(body).toMatchObject({ viewQuery: 'tab=explore&event=7', event: event.slice(2), attr: [] });
    const funnel = {
      part: 'funnel',
      operation: 'reportFunnel',
      request: { ...november, step: [{ event: 5 }, { event: [6] }], filter: { event: 7 } },
    };
    const both = await make({ viewPage: 'events', viewQuery, report: [funnel] });
    expect((await show(both.shareSecret)).body).toMatchObject({
      viewQuery: 'tab=explore&steps=5%2C6',
      event: event.slice(0, 2),
      attr: [],
    });
  });

  test('is let in to no operation, however the secret is sent', async () => {
    const { shareSecret } = await make();
    const { headers } = await signInWith(scene, { tokenUUID: scene.tokens.server });
    const [cookieName] = cookieFrom(headers).split('=');
    const proofs: { readonly fields?: Fields; readonly headers?: Record<string, string> }[] = [
      { fields: { tokenUUID: shareSecret } },
      { fields: { shareSecret } },
      { headers: { Authorization: `Bearer ${shareSecret}` } },
      { headers: fromConsole(`${cookieName}=${shareSecret}`, shareSecret) },
    ];
    const answered = new Set<string>();
    for (const { name, operation, path } of operationPaths) {
      const input = await smallestInput[name](scene, 'server');
      for (const proof of proofs) {
        const fields = { ...input, ...proof.fields };
        const [method] = operation.methods;
        const response = await scene.app.request(
          method === 'GET' ? `${path}?${new URLSearchParams(asText(fields))}` : path,
          method === 'GET'
            ? { headers: proof.headers ?? {} }
            : { method, headers: proof.headers ?? {}, body: JSON.stringify(fields) },
        );
        answered.add(`${response.status} ${JSON.parse(await readText(response)).error.code}`);
      }
    }
    expect([...answered].sort()).toEqual(['401 invalid_token', '401 missing_token']);
  });

  test('has the server ask what was stored, and nothing that is sent with it', async () => {
    const stored = async () => {
      await ask({ shareSecret: (await make()).shareSecret });
      return questions();
    };
    const wanted = await stored();
    expect(wanted).toHaveLength(1);
    const attempts: Fields[] = [
      { from: '2020-01-01' },
      { from: 0, to: '2030-01-01', compare: 'year' },
      { filter: { event: 1 } },
      { filter: null },
      { attrID: 'amount' },
      { by: 'attr:mail', limit: 1000 },
      { interval: 'hour' },
      { robots: 'include' },
      { timezone: 'Asia/Tokyo' },
      { operation: 'reportPeople' },
      { request: { from: '2020-01-01' } },
      { report: [{ part: 'totals', operation: 'reportPeople', request: { from: '2020-01-01' } }] },
      { accountUUID: 'another', account: 1 },
      { moving: 'day' },
      { tokenUUID: scene.tokens.server, from: '2020-01-01' },
    ];
    for (const fields of attempts) {
      const { shareSecret } = await make();
      expect([fields, (await ask({ shareSecret, ...fields })).status]).toEqual([fields, 200]);
      expect([fields, questions()]).toEqual([fields, wanted]);
      const query = `?${new URLSearchParams(asText(fields))}`;
      await scene.send(`/console/shared/report${query}`, {
        method: 'POST',
        body: JSON.stringify({ shareSecret: (await make()).shareSecret, part: 'totals' }),
      });
      expect([query, questions()]).toEqual([query, wanted]);
    }
  });

  test('reaches the parts of that view only', async () => {
    const { shareSecret } = await make({ report: report.slice(0, 1) });
    await make();
    const parts = [
      'pages',
      'Totals',
      '',
      0,
      '0',
      null,
      undefined,
      ['totals'],
      { part: 'totals' },
      '__proto__',
      'length',
    ];
    for (const part of parts) {
      const { status, body } = await ask({ shareSecret, part });
      expect([part, status, body.error.code, body.error.field]).toEqual([part, 400, 'invalid_field', 'part']);
    }
    expect(questions()).toEqual([]);
  });

  test('is answered about the account of the link, also in a browser that is signed in to another', async () => {
    const { body } = await scene.post('/account/createAccount', { tokenUUID: scene.tokens.operator, accountName: 'B' });
    const other = { ...scene, tokens: { ...scene.tokens, server: body.serverTokenUUID } };
    const { shareSecret } = await make({}, other);
    const mine = await make();
    await ask(mine);
    await ask({ shareSecret }, { Authorization: `Bearer ${scene.tokens.server}` });
    const [first, second] = questions().map((question) => question.account);
    expect(first).not.toBe(second);
    const { headers, body: signedIn } = await signInWith(scene, { tokenUUID: scene.tokens.server });
    const fresh = await make({}, other);
    await ask(fresh, fromConsole(cookieFrom(headers), signedIn.session.sessionID));
    expect(questions().map((question) => question.account)).toEqual([second]);
    // Neither account can revoke the link of the other.
    for (const [shareID, tokenUUID] of [
      [fresh.shareID, scene.tokens.server],
      [mine.shareID, body.serverTokenUUID],
    ]) {
      const refused = await scene.post('/report/revokeShareLink', { tokenUUID, shareID });
      expect(refused.body.error.code).toBe('unknown_share_link');
    }
    expect((await show(fresh.shareSecret)).status).toBe(200);
  });

  test('reads no address, no filter and no name of the account', async () => {
    answer = async (question) =>
      question.report === 'breakdown'
        ? {
            total: { events: 2, users: 2, people: 2, sessions: 2 },
            rows: ['/u/ann@shop.example', '/u/ben%40shop.example'].map((value) => ({
              values: [value],
              ...{ events: 1, users: 1, people: 1, sessions: 1 },
            })),
            others: null,
          }
        : undefined;
    const { tokens, accountUUID } = scene;
    await scene.post('/account/updateAccount', {
      tokenUUID: tokens.server,
      accountName: 'The secret shop',
      accountOrigin: ['https://secret.example'],
      attr: [{ attrID: 'path', attrName: 'Paths of cleo@shop.example' }],
      event: [{ eventID: 5, eventName: 'Not shown' }],
    });
    const viewQuery = new URLSearchParams({
      ...{ filter: JSON.stringify([filter]), pages: 'all', account: accountUUID },
      tab: 'dan@shop.example',
    });
    const { shareID, shareSecret } = await make({ viewQuery: viewQuery.toString() });
    const texts = [
      JSON.stringify((await show(shareSecret)).body),
      ...(await Promise.all(
        ['totals', 'pages'].map(async (part) => JSON.stringify((await ask({ shareSecret, part })).body)),
      )),
    ];
    expect(texts[0]).toContain('tab=(hidden 1)');
    expect(texts[0]).toContain('Paths of (hidden 2)');
    expect(texts[2]).toContain('"/u/(hidden 1)"');
    expect(texts[2]).toContain('"/u/(hidden 2)"');
    for (const text of texts) {
      expect(text).not.toMatch(/@|%40|mail|secret|Not shown/);
      for (const hidden of [accountUUID, shareID, ...Object.values(tokens)]) expect(text).not.toContain(hidden);
    }
  });
});

test('a report that is refused later says nothing of its filter', async () => {
  for (const [code, status] of [
    ['invalid_field', 400],
    ['unknown_segment', 400],
    ['report_too_slow', 503],
    ['no_reports', 503],
  ] as const) {
    answer = () => Promise.reject(new Refusal(code, { field: 'filter.mail', message: 'ann@shop.example' }));
    const { shareSecret } = await make();
    const refused = await ask({ shareSecret });
    expect(refused.status).toBe(status);
    expect(JSON.stringify(refused.body)).not.toMatch(/mail|@/);
    answer = async () => undefined;
    // Only one that was too slow is not asked again for ten seconds.
    expect((await ask({ shareSecret })).status).toBe(code === 'report_too_slow' ? 503 : 200);
  }
});

describe('a link that has ended', () => {
  const withoutID = ({ status, body }: { status: number; body: Fields }) => ({ status, ...body, requestID: '' });

  test('answers as one that never was: after its revocation, its end, and from when its account is deleted', async () => {
    const unheardOf = `share_${'x'.repeat(32)}`;
    const never = withoutID(await show(unheardOf));
    const neverPage = await scene.send(`/console/shared/${unheardOf}`);
    expect([neverPage.status, neverPage.body]).toEqual([404, expect.stringContaining(ended)]);
    const expectEnded = async (shareSecret: unknown) => {
      expect(withoutID(await show(shareSecret))).toEqual(never);
      expect(withoutID(await ask({ shareSecret }))).toEqual(never);
      const page = await scene.send(`/console/shared/${encodeURIComponent(String(shareSecret))}`);
      expect([page.status, page.body]).toEqual([404, neverPage.body]);
      const headersOf = ({ headers }: typeof page) => [...headers].filter(([name]) => name !== 'x-request-id').sort();
      expect(headersOf(page)).toEqual(headersOf(neverPage));
    };
    const isOpen = async ({ shareSecret }: { shareSecret: string }) => {
      expect((await ask({ shareSecret })).status).toBe(200);
      expect((await scene.send(`/console/shared/${shareSecret}`)).status).toBe(200);
    };

    const revoked = await make();
    await isOpen(revoked);
    await scene.post('/report/revokeShareLink', { tokenUUID: scene.tokens.editor, shareID: revoked.shareID });
    await expectEnded(revoked.shareSecret);

    const short = await make({ expiresTime: new Date(time + day).toISOString() });
    await isOpen(short);
    time += day;
    await expectEnded(short.shareSecret);

    const deleted = await make();
    await isOpen(deleted);
    const account = (await scene.store.findAccount(scene.accountUUID)) as number;
    await scene.store.deleteAccount({ account, most: 1, time });
    await expectEnded(deleted.shareSecret);

    for (const odd of ['', 'share_', 5, null, undefined, [revoked.shareSecret], { a: 1 }, 'x'.repeat(5_000)]) {
      expect(withoutID(await show(odd))).toEqual(never);
    }
    expect(questions().length).toBeLessThanOrEqual(3);
  });

  test.each<[string, (shareID: string) => Promise<unknown>]>([
    ['was revoked', (shareID) => scene.post('/report/revokeShareLink', { tokenUUID: scene.tokens.editor, shareID })],
    [
      'lost its account',
      async () => {
        const account = (await scene.store.findAccount(scene.accountUUID)) as number;
        await scene.store.deleteAccount({ account, most: 1, time });
      },
    ],
    [
      'ended',
      async () => {
        time += day;
      },
    ],
  ])('shows neither a report that ran nor one that waited when it %s', async (_, end) => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    answer = async () => {
      await released;
      return undefined;
    };
    const { shareID, shareSecret } = await make({ expiresTime: new Date(time + day).toISOString() });
    const running = ask({ shareSecret });
    await expect.poll(() => reports.asked.length).toBe(1);
    const others = [ask({ shareSecret }), ask({ shareSecret, part: 'pages' }), ask({ shareSecret, part: 'pages' })];
    // Each of them has found the link before it ends.
    await show(shareSecret);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await end(shareID);
    release();
    for (const { status, body } of await Promise.all([running, ...others])) {
      expect([status, body.error]).toEqual([
        404,
        { code: 'unknown_share_link', message: 'this link is not valid any more' },
      ]);
    }
    // The report that waited was not asked.
    expect(questions().map((question) => question.report)).toEqual(['totals']);
  });

  test('was made by a leaked token, and ends with all that the token made', async () => {
    const { tokens } = scene;
    const { body } = await scene.post('/account/createToken', { tokenUUID: tokens.server, tokenKind: 'server' });
    const leaked = { ...scene, tokens: { ...tokens, server: body.tokenUUID } };
    const direct = await make({}, leaked);
    const { headers, body: signedIn } = await signInWith(scene, { tokenUUID: body.tokenUUID });
    const inSession = await scene.post(
      '/report/createShareLink',
      { shareName: 'x', viewPage: 'overview', report },
      fromConsole(cookieFrom(headers), signedIn.session.sessionID),
    );
    expect(inSession.status).toBe(200);
    const kept = await make();
    await scene.post('/account/revokeToken', { tokenUUID: tokens.server, tokenID: body.tokenID, descendants: true });
    expect((await show(direct.shareSecret)).status).toBe(404);
    expect((await show(inSession.body.shareSecret)).status).toBe(404);
    expect((await show(kept.shareSecret)).status).toBe(200);
  });
});

test('a secret cannot be guessed, and guesses hold up no reader at the same address', async () => {
  const patient = await open({ rateLimits: { ...noRateLimits, unknownToken: { perSecond: 0.001, burst: 10 } } });
  try {
    const { shareSecret } = await make({}, patient);
    const showIn = (secret: string) => patient.post('/console/shared', { shareSecret: secret });
    expect((await showIn(shareSecret)).status).toBe(200);
    const statuses = [];
    for (let nth = 0; nth < 30; nth += 1) statuses.push((await showIn(`share_${String(nth).padEnd(32, 'x')}`)).status);
    expect(statuses.filter((status) => status === 404)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(20);
    expect((await patient.send(`/console/shared/share_${'y'.repeat(32)}`)).status).toBe(429);
    // Nor one whose link nobody has opened before.
    for (const secret of [shareSecret, (await make({}, patient)).shareSecret]) {
      expect((await showIn(secret)).status).toBe(200);
      expect((await patient.send(`/console/shared/${secret}`)).status).toBe(200);
    }
    // Wrong secrets take nothing from the rate of those that are right.
    const right = await Promise.all(Array.from({ length: 250 }, () => showIn(shareSecret)));
    expect(new Set(right.map(({ status }) => status))).toEqual(new Set([200]));
    // Only the hash is stored, and a hash lets nobody in.
    const account = (await patient.store.findAccount(patient.accountUUID)) as number;
    expect(JSON.stringify(await patient.store.listShareLinks({ account }))).not.toContain(shareSecret);
  } finally {
    await patient.close();
  }
});

test('a flood over all links of an account has one report asked at a time, and the rest refused soon', async () => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let underWay = 0;
  let most = 0;
  answer = async () => {
    underWay += 1;
    most = Math.max(most, underWay);
    await released;
    underWay -= 1;
    return undefined;
  };
  const links: string[] = [];
  for (let nth = 0; nth < 40; nth += 1) links.push((await make()).shareSecret);
  const flood = links.flatMap((shareSecret) =>
    ['totals', 'pages'].flatMap((part) => [0, 1, 2].map(() => ask({ shareSecret, part }))),
  );
  let refused = 0;
  for (const one of flood)
    one.then(({ status, headers }) => {
      if (status !== 503) return;
      refused += 1;
      expect(headers.get('retry-after')).toBe('5');
    });
  await expect.poll(() => refused).toBeGreaterThan(100);
  expect(reports.asked).toHaveLength(1);
  // Another account is not held up by it.
  const { body } = await scene.post('/account/createAccount', { tokenUUID: scene.tokens.operator, accountName: 'B' });
  const other = await make({}, { ...scene, tokens: { ...scene.tokens, server: body.serverTokenUUID } });
  const itsAnswer = ask(other);
  await expect.poll(() => reports.asked.length).toBe(2);
  expect(most).toBe(2);
  release();
  await Promise.all(flood);
  expect((await itsAnswer).status).toBe(200);
  // One of each account, and no more of this one than those that waited: each of them answers all who asked for the same.
  expect(most).toBe(2);
  expect(reports.asked.length).toBeLessThanOrEqual(27);
});

test.each(['views', 'reports'])(
  'the first read of %s is recorded, and a store that cannot record it refuses nobody',
  async (read) => {
    const used: string[] = [];
    const full = await open({
      wrap: (store) => ({
        ...store,
        noteShareLinkUse: async ({ shareID }) => {
          used.push(shareID);
          throw new Refusal('unavailable');
        },
      }),
    });
    try {
      const { shareID, shareSecret } = await make({}, full);
      const path = read === 'views' ? '/console/shared' : '/console/shared/report';
      expect((await full.post(path, { shareSecret, part: 'totals' })).status).toBe(200);
      expect(used).toEqual([shareID]);
      expect((await full.send(`/console/shared/${shareSecret}`)).status).toBe(200);
      expect(used).toEqual([shareID]);
    } finally {
      await full.close();
    }
  },
);

describe('one address is held to one rate over all links', () => {
  const ways = {
    pages: (shareSecret: string) => scene.send(`/console/shared/${shareSecret}`),
    views: (shareSecret: string) => show(shareSecret),
    reports: (shareSecret: string) => ask({ shareSecret }),
  };
  const refusals = async (answers: Promise<{ status: number }>[]) =>
    (await Promise.all(answers)).filter(({ status }) => status === 429).length;

  test.each(Object.entries(ways))('with %s, cached or not', async (_, way) => {
    const links = [await make(), await make(), await make()];
    const flood = links.flatMap(({ shareSecret }) => Array.from({ length: 150 }, () => way(shareSecret)));
    expect(await refusals(flood)).toBeGreaterThan(100);
    const { shareSecret } = await make();
    for (const other of Object.values(ways)) {
      expect(await refusals(Array.from({ length: 20 }, () => other(shareSecret)))).toBeGreaterThan(5);
    }
    expect(reports.asked.length).toBeLessThanOrEqual(4);
  });
});

test('20 people behind one address open a page of 12 reports at the same time', async () => {
  const parts = Array.from({ length: 12 }, (_, nth) => `part${nth}`);
  const { shareSecret } = await make({ report: parts.map((part) => ({ ...report[0], part })) });
  const openPage = async () => [
    await scene.send(`/console/shared/${shareSecret}`),
    await show(shareSecret),
    ...(await Promise.all(parts.map((part) => ask({ shareSecret, part })))),
  ];
  const answers = (await Promise.all(Array.from({ length: 20 }, openPage))).flat();
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(reports.asked).toHaveLength(12);
});

test('the page is for the link alone: listed by no search engine, stored nowhere, and in no log', async () => {
  const { shareSecret } = await make({ shareName: '<img src=x onerror=alert(1)>' });
  const page = await scene.send(`/console/shared/${shareSecret}?x=1`);
  expect(page.status).toBe(200);
  expect(page.body).toBe('<script src="../assets/main.js"></script><meta content="">');
  expect(Object.fromEntries(page.headers)).toMatchObject({
    'cache-control': 'no-store',
    'content-security-policy': expect.stringMatching(/default-src 'none'.*frame-ancestors 'none'/),
    'content-type': 'text/html; charset=utf-8',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-robots-tag': 'noindex, nofollow',
  });
  for (const answered of [page, await show(shareSecret), await ask({ shareSecret })]) {
    expect(answered.headers.get('set-cookie')).toBeNull();
    expect(answered.headers.get('access-control-allow-origin')).toBeNull();
    expect(answered.headers.get('cache-control')).toBe('no-store');
    expect(answered.headers.get('x-robots-tag')).toBe('noindex, nofollow');
  }
  await scene.send(`/console/shared/${shareSecret}`, { method: 'DELETE' });
  await scene.send(`/console/shared/${shareSecret}/`);
  await scene.send(`/console/shared/${shareSecret}`, { method: 'HEAD' });
  expect(scene.logged()).not.toContain(shareSecret.slice(6));
  expect(scene.logged()).toContain('/console/shared/…');
});
