/**
 * Tests that a share link shows only what was shared, no matter what its holder sends, and nothing once the link has
 * ended.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ReportQuery, ResultOf } from '../../../src/reports/queries.ts';
import { Refusal } from '../../../src/shared/refusal.ts';
import { createFakeReports, type FakeReports } from '../../fixtures/reports/fake-reports.ts';
import { smallestInput } from '../../fixtures/requests.ts';
import { type Fields, noRateLimits, openScene, type Scene, toStrings } from '../../fixtures/scene.ts';
import { consoleOrigin, cookieFrom, fromConsole, signInWith } from '../../front-door/console/requests.ts';
import { operationPaths, readText } from '../tools/service.ts';

const day = 86_400_000;
const november = { from: '2026-11-01', to: '2026-12-01' };
const filter = { attrID: 'mail', is: 'ann@shop.example' };
const endedMessage = 'This link is no longer valid';

let folder: string;
let reports: FakeReports;
let computeResult: (query: ReportQuery) => Promise<ResultOf<ReportQuery> | undefined>;
let scene: Scene;
let time: number;

const open = (options: Parameters<typeof openScene>[0] = {}) =>
  openScene({ reports, now: () => time, consoleOrigin, files: { console: folder }, ...options });

beforeEach(async () => {
  time = Date.parse('2026-11-24T12:00Z');
  computeResult = async () => undefined;
  reports = createFakeReports((query) => computeResult(query));
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
const createLink = async (fields: Fields = {}, { post, tokens } = scene) => {
  const shareFields = { shareName: 'Teapots', viewPage: 'overview', report, ...fields };
  const { body } = await post('/report/createShareLink', { tokenUUID: tokens.server, ...shareFields });
  expect(body.error).toBeUndefined();
  return body as { shareID: string; shareSecret: string };
};
const readReport = (fields: Fields, headers: Record<string, string> = {}) =>
  scene.post('/console/shared/report', { part: 'totals', ...fields }, headers);
const readLink = (shareSecret: unknown) => scene.post('/console/shared', { shareSecret });
const takeQueries = () => reports.requests.splice(0).map(({ query }) => query);

describe('a share link’s holder', () => {
  test('reads only names that the reports use, whatever the URL contained when the link was created', async () => {
    const { server } = scene.tokens;
    const event = [5, 6, 7].map((eventID) => ({ eventID, eventName: `Secret ${eventID}` }));
    const attr = [{ attrID: 'salary', attrName: 'Salary', attrType: 'text' }];
    await scene.post('/account/updateAccount', { tokenUUID: server, event, attr });
    const viewQuery = 'tab=explore&steps=5,6&by=attr:salary&first=5&back=6&event=7&interval=week&who={}&filter=[]';
    const totals = { part: 'totals', operation: 'reportTotals', request: { ...november, eventID: 7 } };
    const { shareSecret } = await createLink({ viewPage: 'events', viewQuery, report: [totals] });
    const { body } = await readLink(shareSecret);
    expect(body).toMatchObject({ viewQuery: 'tab=explore&event=7', event: event.slice(2), attr: [] });
    const funnel = {
      part: 'funnel',
      operation: 'reportFunnel',
      request: { ...november, step: [{ event: 5 }, { event: [6] }], filter: { event: 7 } },
    };
    const both = await createLink({ viewPage: 'events', viewQuery, report: [funnel] });
    expect((await readLink(both.shareSecret)).body).toMatchObject({
      viewQuery: 'tab=explore&steps=5%2C6',
      event: event.slice(0, 2),
      attr: [],
    });
  });

  test('can’t call any operation, no matter how the secret is sent', async () => {
    const { shareSecret } = await createLink();
    const { headers } = await signInWith(scene, { tokenUUID: scene.tokens.server });
    const [cookieName] = cookieFrom(headers).split('=');
    const proofs: { readonly fields?: Fields; readonly headers?: Record<string, string> }[] = [
      { fields: { tokenUUID: shareSecret } },
      { fields: { shareSecret } },
      { headers: { Authorization: `Bearer ${shareSecret}` } },
      { headers: fromConsole(`${cookieName}=${shareSecret}`, shareSecret) },
    ];
    const responses = new Set<string>();
    for (const { name, operation, path } of operationPaths) {
      const input = await smallestInput[name](scene, 'server');
      for (const proof of proofs) {
        const fields = { ...input, ...proof.fields };
        const [method] = operation.methods;
        const response = await scene.app.request(
          method === 'GET' ? `${path}?${new URLSearchParams(toStrings(fields))}` : path,
          method === 'GET'
            ? { headers: proof.headers ?? {} }
            : { method, headers: proof.headers ?? {}, body: JSON.stringify(fields) },
        );
        responses.add(`${response.status} ${JSON.parse(await readText(response)).error.code}`);
      }
    }
    expect([...responses].sort()).toEqual(['401 invalid_token', '401 missing_token']);
  });

  test('gets only the stored report, no matter which other fields are sent', async () => {
    const readStoredReport = async () => {
      await readReport({ shareSecret: (await createLink()).shareSecret });
      return takeQueries();
    };
    const storedQueries = await readStoredReport();
    expect(storedQueries).toHaveLength(1);
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
      const { shareSecret } = await createLink();
      expect([fields, (await readReport({ shareSecret, ...fields })).status]).toEqual([fields, 200]);
      expect([fields, takeQueries()]).toEqual([fields, storedQueries]);
      const query = `?${new URLSearchParams(toStrings(fields))}`;
      await scene.send(`/console/shared/report${query}`, {
        method: 'POST',
        body: JSON.stringify({ shareSecret: (await createLink()).shareSecret, part: 'totals' }),
      });
      expect([query, takeQueries()]).toEqual([query, storedQueries]);
    }
  });

  test('reads only the view’s parts', async () => {
    const { shareSecret } = await createLink({ report: report.slice(0, 1) });
    await createLink();
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
      const { status, body } = await readReport({ shareSecret, part });
      expect([part, status, body.error.code, body.error.field]).toEqual([part, 400, 'invalid_field', 'part']);
    }
    expect(takeQueries()).toEqual([]);
  });

  test('reads the link’s account, even in a browser that is signed in to another account', async () => {
    const { body } = await scene.post('/account/createAccount', { tokenUUID: scene.tokens.operator, accountName: 'B' });
    const other = { ...scene, tokens: { ...scene.tokens, server: body.serverTokenUUID } };
    const { shareSecret } = await createLink({}, other);
    const mine = await createLink();
    await readReport(mine);
    await readReport({ shareSecret }, { Authorization: `Bearer ${scene.tokens.server}` });
    const [first, second] = takeQueries().map((query) => query.account);
    expect(first).not.toBe(second);
    const { headers, body: signedIn } = await signInWith(scene, { tokenUUID: scene.tokens.server });
    const fresh = await createLink({}, other);
    await readReport(fresh, fromConsole(cookieFrom(headers), signedIn.session.sessionID));
    expect(takeQueries().map((query) => query.account)).toEqual([second]);
    // Each account can revoke only its own links.
    for (const [shareID, tokenUUID] of [
      [fresh.shareID, scene.tokens.server],
      [mine.shareID, body.serverTokenUUID],
    ]) {
      const refused = await scene.post('/report/revokeShareLink', { tokenUUID, shareID });
      expect(refused.body.error.code).toBe('unknown_share_link');
    }
    expect((await readLink(fresh.shareSecret)).status).toBe(200);
  });

  test('reads no e-mail address, filter or account name', async () => {
    computeResult = async (query) =>
      query.report === 'breakdown'
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
    const { shareID, shareSecret } = await createLink({ viewQuery: viewQuery.toString() });
    const texts = [
      JSON.stringify((await readLink(shareSecret)).body),
      ...(await Promise.all(
        ['totals', 'pages'].map(async (part) => JSON.stringify((await readReport({ shareSecret, part })).body)),
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

test('reveals nothing about a share link’s filter if a report is refused after the link was created', async () => {
  for (const [code, status] of [
    ['invalid_field', 400],
    ['unknown_segment', 400],
    ['report_too_slow', 503],
    ['no_reports', 503],
  ] as const) {
    computeResult = () => Promise.reject(new Refusal(code, { field: 'filter.mail', message: 'ann@shop.example' }));
    const { shareSecret } = await createLink();
    const refused = await readReport({ shareSecret });
    expect(refused.status).toBe(status);
    expect(JSON.stringify(refused.body)).not.toMatch(/mail|@/);
    computeResult = async () => undefined;
    // A report that was too slow is refused for ten seconds; after any other error, it can run again immediately.
    expect((await readReport({ shareSecret })).status).toBe(code === 'report_too_slow' ? 503 : 200);
  }
});

describe('a share link', () => {
  const withoutID = ({ status, body }: { status: number; body: Fields }) => ({ status, ...body, requestID: '' });

  test('responds as if it had never existed once it is revoked or expired, or its account is being deleted', async () => {
    const unknownSecret = `share_${'x'.repeat(32)}`;
    const unknownResponse = withoutID(await readLink(unknownSecret));
    const unknownPage = await scene.send(`/console/shared/${unknownSecret}`);
    expect([unknownPage.status, unknownPage.body]).toEqual([404, expect.stringContaining(endedMessage)]);
    const expectEnded = async (shareSecret: unknown) => {
      expect(withoutID(await readLink(shareSecret))).toEqual(unknownResponse);
      expect(withoutID(await readReport({ shareSecret }))).toEqual(unknownResponse);
      const page = await scene.send(`/console/shared/${encodeURIComponent(String(shareSecret))}`);
      expect([page.status, page.body]).toEqual([404, unknownPage.body]);
      const headersOf = ({ headers }: typeof page) => [...headers].filter(([name]) => name !== 'x-request-id').sort();
      expect(headersOf(page)).toEqual(headersOf(unknownPage));
    };
    const expectOpen = async ({ shareSecret }: { shareSecret: string }) => {
      expect((await readReport({ shareSecret })).status).toBe(200);
      expect((await scene.send(`/console/shared/${shareSecret}`)).status).toBe(200);
    };

    const revoked = await createLink();
    await expectOpen(revoked);
    await scene.post('/report/revokeShareLink', { tokenUUID: scene.tokens.editor, shareID: revoked.shareID });
    await expectEnded(revoked.shareSecret);

    const short = await createLink({ expiresTime: new Date(time + day).toISOString() });
    await expectOpen(short);
    time += day;
    await expectEnded(short.shareSecret);

    const deleted = await createLink();
    await expectOpen(deleted);
    const account = (await scene.store.findAccount(scene.accountUUID)) as number;
    await scene.store.deleteAccount({ account, limit: 1, time });
    await expectEnded(deleted.shareSecret);

    for (const invalidSecret of [
      '',
      'share_',
      5,
      null,
      undefined,
      [revoked.shareSecret],
      { a: 1 },
      'x'.repeat(5_000),
    ]) {
      expect(withoutID(await readLink(invalidSecret))).toEqual(unknownResponse);
    }
    expect(takeQueries().length).toBeLessThanOrEqual(3);
  });

  test.each<[string, (shareID: string) => Promise<unknown>]>([
    ['was revoked', (shareID) => scene.post('/report/revokeShareLink', { tokenUUID: scene.tokens.editor, shareID })],
    [
      'lost its account',
      async () => {
        const account = (await scene.store.findAccount(scene.accountUUID)) as number;
        await scene.store.deleteAccount({ account, limit: 1, time });
      },
    ],
    [
      'expired',
      async () => {
        time += day;
      },
    ],
  ])('shows no report, whether running or waiting, after it %s', async (_, end) => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    computeResult = async () => {
      await released;
      return undefined;
    };
    const { shareID, shareSecret } = await createLink({ expiresTime: new Date(time + day).toISOString() });
    const running = readReport({ shareSecret });
    await expect.poll(() => reports.requests.length).toBe(1);
    const others = [
      readReport({ shareSecret }),
      readReport({ shareSecret, part: 'pages' }),
      readReport({ shareSecret, part: 'pages' }),
    ];
    // Waits until each request has found the link, before the link ends.
    await readLink(shareSecret);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await end(shareID);
    release();
    for (const { status, body } of await Promise.all([running, ...others])) {
      expect([status, body.error]).toEqual([
        404,
        { code: 'unknown_share_link', message: 'this link is no longer valid' },
      ]);
    }
    // Expects that the waiting report did not run.
    expect(takeQueries().map((query) => query.report)).toEqual(['totals']);
  });

  test('ends with the leaked token that created it, whether directly or in a session', async () => {
    const { tokens } = scene;
    const { body } = await scene.post('/account/createToken', { tokenUUID: tokens.server, tokenKind: 'server' });
    const leaked = { ...scene, tokens: { ...tokens, server: body.tokenUUID } };
    const direct = await createLink({}, leaked);
    const { headers, body: signedIn } = await signInWith(scene, { tokenUUID: body.tokenUUID });
    const inSession = await scene.post(
      '/report/createShareLink',
      { shareName: 'x', viewPage: 'overview', report },
      fromConsole(cookieFrom(headers), signedIn.session.sessionID),
    );
    expect(inSession.status).toBe(200);
    const unaffected = await createLink();
    await scene.post('/account/revokeToken', { tokenUUID: tokens.server, tokenID: body.tokenID, descendants: true });
    expect((await readLink(direct.shareSecret)).status).toBe(404);
    expect((await readLink(inSession.body.shareSecret)).status).toBe(404);
    expect((await readLink(unaffected.shareSecret)).status).toBe(200);
  });
});

test('limits guesses of secrets, without delaying readers at the same IP address', async () => {
  const limitedScene = await open({ rateLimits: { ...noRateLimits, unknownToken: { perSecond: 0.001, burst: 10 } } });
  try {
    const { shareSecret } = await createLink({}, limitedScene);
    const showIn = (secret: string) => limitedScene.post('/console/shared', { shareSecret: secret });
    expect((await showIn(shareSecret)).status).toBe(200);
    const statuses = [];
    for (let nth = 0; nth < 30; nth += 1) statuses.push((await showIn(`share_${String(nth).padEnd(32, 'x')}`)).status);
    expect(statuses.filter((status) => status === 404)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(20);
    expect((await limitedScene.send(`/console/shared/share_${'y'.repeat(32)}`)).status).toBe(429);
    // Includes readers of a link that was never opened before.
    for (const secret of [shareSecret, (await createLink({}, limitedScene)).shareSecret]) {
      expect((await showIn(secret)).status).toBe(200);
      expect((await limitedScene.send(`/console/shared/${secret}`)).status).toBe(200);
    }
    // Wrong secrets don't use up the rate limit for valid secrets.
    const right = await Promise.all(Array.from({ length: 250 }, () => showIn(shareSecret)));
    expect(new Set(right.map(({ status }) => status))).toEqual(new Set([200]));
    // Expects that the account stores only the hash.
    const account = (await limitedScene.store.findAccount(limitedScene.accountUUID)) as number;
    expect(JSON.stringify(await limitedScene.store.listShareLinks({ account }))).not.toContain(shareSecret);
  } finally {
    await limitedScene.close();
  }
});

test('runs one report at a time during a flood on an account’s links, and quickly refuses the rest', async () => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let runningReports = 0;
  let maxRunning = 0;
  computeResult = async () => {
    runningReports += 1;
    maxRunning = Math.max(maxRunning, runningReports);
    await released;
    runningReports -= 1;
    return undefined;
  };
  const links: string[] = [];
  for (let nth = 0; nth < 40; nth += 1) links.push((await createLink()).shareSecret);
  const flood = links.flatMap((shareSecret) =>
    ['totals', 'pages'].flatMap((part) => [0, 1, 2].map(() => readReport({ shareSecret, part }))),
  );
  let refused = 0;
  for (const one of flood)
    one.then(({ status, headers }) => {
      if (status !== 503) return;
      refused += 1;
      expect(headers.get('retry-after')).toBe('5');
    });
  await expect.poll(() => refused).toBeGreaterThan(100);
  expect(reports.requests).toHaveLength(1);
  // Reads another account's link, which the flood does not delay.
  const { body } = await scene.post('/account/createAccount', { tokenUUID: scene.tokens.operator, accountName: 'B' });
  const other = await createLink({}, { ...scene, tokens: { ...scene.tokens, server: body.serverTokenUUID } });
  const otherResponse = readReport(other);
  await expect.poll(() => reports.requests.length).toBe(2);
  expect(maxRunning).toBe(2);
  release();
  await Promise.all(flood);
  expect((await otherResponse).status).toBe(200);
  // Expects one report at a time for each account. The flooded account has run only the waiting reports, each of which
  // responds to all identical requests.
  expect(maxRunning).toBe(2);
  expect(reports.requests.length).toBeLessThanOrEqual(27);
});

test.each(['views', 'reports'])(
  'records the first read of %s, and serves the link even if the store cannot record the read',
  async (read) => {
    const usedLinks: string[] = [];
    const fullStore = await open({
      wrap: (store) => ({
        ...store,
        recordShareLinkUse: async ({ shareID }) => {
          usedLinks.push(shareID);
          throw new Refusal('unavailable');
        },
      }),
    });
    try {
      const { shareID, shareSecret } = await createLink({}, fullStore);
      const path = read === 'views' ? '/console/shared' : '/console/shared/report';
      expect((await fullStore.post(path, { shareSecret, part: 'totals' })).status).toBe(200);
      expect(usedLinks).toEqual([shareID]);
      expect((await fullStore.send(`/console/shared/${shareSecret}`)).status).toBe(200);
      expect(usedLinks).toEqual([shareID]);
    } finally {
      await fullStore.close();
    }
  },
);

describe('the per-IP rate limit', () => {
  const ways = {
    pages: (shareSecret: string) => scene.send(`/console/shared/${shareSecret}`),
    views: (shareSecret: string) => readLink(shareSecret),
    reports: (shareSecret: string) => readReport({ shareSecret }),
  };
  const refusals = async (responses: Promise<{ status: number }>[]) =>
    (await Promise.all(responses)).filter(({ status }) => status === 429).length;

  test.each(Object.entries(ways))('counts %s for all links together, cached or not', async (_, way) => {
    const links = [await createLink(), await createLink(), await createLink()];
    const flood = links.flatMap(({ shareSecret }) => Array.from({ length: 150 }, () => way(shareSecret)));
    expect(await refusals(flood)).toBeGreaterThan(100);
    const { shareSecret } = await createLink();
    for (const other of Object.values(ways)) {
      expect(await refusals(Array.from({ length: 20 }, () => other(shareSecret)))).toBeGreaterThan(5);
    }
    expect(reports.requests.length).toBeLessThanOrEqual(4);
  });
});

test('lets 20 people with the same IP address open a page with 12 reports at the same time', async () => {
  const parts = Array.from({ length: 12 }, (_, nth) => `part${nth}`);
  const { shareSecret } = await createLink({ report: parts.map((part) => ({ ...report[0], part })) });
  const openPage = async () => [
    await scene.send(`/console/shared/${shareSecret}`),
    await readLink(shareSecret),
    ...(await Promise.all(parts.map((part) => readReport({ shareSecret, part })))),
  ];
  const responses = (await Promise.all(Array.from({ length: 20 }, openPage))).flat();
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
  expect(reports.requests).toHaveLength(12);
});

test('keeps a link’s page out of search engines, caches and logs', async () => {
  const { shareSecret } = await createLink({ shareName: '<img src=x onerror=alert(1)>' });
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
  for (const responses of [page, await readLink(shareSecret), await readReport({ shareSecret })]) {
    expect(responses.headers.get('set-cookie')).toBeNull();
    expect(responses.headers.get('access-control-allow-origin')).toBeNull();
    expect(responses.headers.get('cache-control')).toBe('no-store');
    expect(responses.headers.get('x-robots-tag')).toBe('noindex, nofollow');
  }
  await scene.send(`/console/shared/${shareSecret}`, { method: 'DELETE' });
  await scene.send(`/console/shared/${shareSecret}/`);
  await scene.send(`/console/shared/${shareSecret}`, { method: 'HEAD' });
  expect(scene.logged()).not.toContain(shareSecret.slice(6));
  expect(scene.logged()).toContain('/console/shared/…');
});
