/**
 * Follows docs/reports.md: each request runs the report that the guide describes, and its response has the form that
 * the guide shows.
 */
import { readFileSync } from 'node:fs';
import { createClient } from '@firsthand/client';
import { check } from '@firsthand/contract/checking';
import { filter } from '@firsthand/contract/reports/filter';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ReportQuery, ResultOf } from '../src/reports/queries.ts';
import { firsthand } from './fixtures/command.ts';
import { readBlocks, runBlock } from './fixtures/documents/guides.ts';
import { createFakeReports } from './fixtures/reports/fake-reports.ts';
import { createAccount, serveHere } from './fixtures/serving.ts';

// biome-ignore lint/suspicious/noExplicitAny: the responses in the guide are untyped.
type Any = any;

const guide = 'reports.md';
const blocks = readBlocks(guide);

/** Returns the engine's result that leads to the response in the guide. */
const resultFor = (query: ReportQuery, shownResponse: Any): ResultOf<ReportQuery> => {
  const isEarlier = shownResponse.earlier && Date.parse(shownResponse.from) !== query.from;
  const part = isEarlier ? shownResponse.earlier : shownResponse;
  const withoutRange = ({ from, to, ...counts }: Any) => counts;
  if (query.report === 'totals') {
    return { total: part.total, intervals: (part.interval ?? [part.total]).map(withoutRange) };
  }
  if (query.report === 'breakdown') {
    const rows = part.row.map(({ eventName, ...row }: Any) => row);
    return { total: part.total, rows, others: part.others ?? null };
  }
  if (query.report === 'people') return { people: [], next: null };
  if (query.report === 'live') {
    const toList = ({ row, others }: Any) => ({ rows: row, others });
    const { events, users, people, page, referrerHost, country } = shownResponse;
    return {
      ...{ events, users, people },
      ...{ page: toList(page), referrerHost: toList(referrerHost), country: toList(country) },
    };
  }
  if (query.report === 'funnel') return { steps: part.step.map(({ reached }: Any) => reached) };
  return { cohorts: part.cohort.map(withoutRange) };
};

/** Opens a server with the guide's events. `show` sets the response that its reports lead to. */
const open = async () => {
  let shownResponse: Any;
  const reports = createFakeReports(async (query) => (shownResponse ? resultFor(query, shownResponse) : undefined));
  const { url } = await serveHere({}, { reports });
  const { serverTokenUUID } = await createAccount(url);
  const event = ['Signed up', 'Paid'].map((eventName, nth) => ({ eventID: 1_000_000 + nth, eventName }));
  await createClient({ url, token: serverTokenUUID }).updateAccount({ event });
  const { port } = new URL(url);
  const env = { FIRSTHAND_URL: url, SERVER_TOKEN: serverTokenUUID, FIRSTHAND_TOKEN: serverTokenUUID, PORT: port };
  const takeQueries = () => reports.requests.splice(0).map(({ query }) => query);
  const show = (response: Any) => {
    shownResponse = response;
  };
  return { takeQueries, show, env };
};

const [signedUp, paid] = [{ eventIDs: [1_000_000] }, { eventIDs: [1_000_001] }];
const day = Date.parse;
const november = { from: day('2026-11-01'), to: day('2026-12-01') };
const isPro = { attrID: 'plan', is: ['pro'] };

/** The queries in the guide's requests, in order. */
const queries: readonly (readonly object[])[] = [
  [
    {
      report: 'totals',
      condition: signedUp,
      robots: false,
      value: null,
      edges: ['2026-11-01', '2026-11-02', '2026-11-09'].map(day),
    },
  ],
  [
    { report: 'totals', condition: paid, value: 'amount', ...november },
    { report: 'totals', condition: paid, value: 'amount', from: day('2026-10-01'), to: day('2026-11-01') },
  ],
  [{ report: 'breakdown', dimensions: [{ by: 'event' }, { attrID: 'plan' }], sort: 'people', limit: 2, ...november }],
  [
    {
      report: 'breakdown',
      dimensions: [{ attrID: 'utm_campaign', of: 'personFirst' }],
      condition: paid,
      value: 'amount',
      among: { condition: null },
      ...november,
    },
  ],
  [{ report: 'funnel', steps: [signedUp, { and: [paid, isPro] }], withinMilliseconds: 604_800_000, per: 'person' }],
  [{ report: 'retention', first: signedUp, back: paid, edges: ['2026-11-02', '2026-11-09', '2026-11-16'].map(day) }],
  [
    {
      report: 'totals',
      condition: null,
      goal: { condition: paid, value: 'amount' },
      edges: ['2026-11-02', '2026-11-09', '2026-11-16'].map(day),
    },
  ],
  [{ report: 'people', of: { kind: 'step', steps: [signedUp, paid], step: 0, dropped: true }, limit: 2, ...november }],
  [{ report: 'live', limit: 2 }],
  [{ report: 'totals', condition: { and: [{ attrID: 'plan', exists: true }, { not: isPro }] }, from: november.from }],
  [],
  [
    {
      report: 'totals',
      condition: { and: [paid, { did: { attrID: 'amount', above: 100 }, atLeast: 2 }] },
      ...november,
    },
  ],
  [],
];

/**
 * Returns the arguments of each `npx firsthand` command in a block. A single shell splits them, because one process per
 * command takes four times as long.
 */
const commandsOf = async (code: string): Promise<string[][]> => {
  const define = `npx() { shift; for argument; do printf '%s\\0' "$argument"; done; echo; }`;
  const printed = await runBlock({ language: 'sh', code: `${define}\n${code}` }, {});
  return printed.split('\n').map((line) => line.split('\0').slice(0, -1));
};

describe(guide, () => {
  const requests = blocks.filter(({ code }) => /^(?:GOAL=\$\()?curl/.test(code));

  test('shows requests and commands that run the described reports, and the reports’ responses', async () => {
    const { takeQueries, show, env } = await open();
    for (const [nth, block] of requests.entries()) {
      const next = blocks[blocks.indexOf(block) + 1];
      const shownResponse = next?.language === 'json' ? JSON.parse(next.code) : undefined;
      show(shownResponse);
      const body = JSON.parse(await runBlock(block, env));
      expect(takeQueries(), block.code).toMatchObject(queries[nth] ?? []);
      expect(body.status).toBe('200');
      const isLive = block.code.includes('reportLive');
      const times = isLive && { from: expect.any(String), to: expect.any(String) };
      const took = shownResponse && 'milliseconds' in shownResponse && { milliseconds: expect.any(Number) };
      if (shownResponse) expect(body).toEqual({ ...shownResponse, ...times, ...took });
    }
    show(undefined);
    const [{ code } = { code: '' }] = blocks.filter((block) => block.code.startsWith('npx'));
    let printed = '';
    for (const args of await commandsOf(code)) {
      const ended = await firsthand(args, env);
      expect(ended, args.join(' ')).toMatchObject({ code: 0 });
      printed += ended.stdout;
    }
    expect(takeQueries()).toMatchObject([
      { report: 'totals', condition: signedUp },
      { report: 'breakdown', dimensions: [{ attrID: 'plan' }] },
      { report: 'funnel', steps: [signedUp, isPro] },
      { report: 'retention', first: signedUp, back: null },
      { report: 'people', of: { kind: 'group', values: ['pro'] } },
      { report: 'people', condition: paid, value: 'amount', sort: 'sum' },
      { report: 'breakdown', dimensions: [{ attrID: 'utm_campaign', of: 'personFirst' }], among: { condition: null } },
      { report: 'live', limit: 5 },
      { report: 'totals', condition: isPro },
    ]);
    expect(printed).toContain('attr:plan,events,users,people,sessions');
  });

  test('describes operations that accept only GET', async () => {
    const { env } = await open();
    const response = await fetch(`${env.FIRSTHAND_URL}/report/reportTotals`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${env.SERVER_TOKEN}`, 'Content-Type': 'application/json' },
      body: '{}',
    });
    expect([response.status, response.headers.get('allow')]).toEqual([405, expect.stringContaining('GET')]);
  });

  test('shows a response for each request except two', () => {
    expect(requests).toHaveLength(queries.length);
    expect(blocks.filter(({ language }) => language === 'json')).toHaveLength(queries.length - 2);
  });

  describe('its filters', () => {
    let filters: string[];
    beforeAll(() => {
      const text = readFileSync(new URL(`../../docs/${guide}`, import.meta.url), 'utf8');
      filters = [...text.matchAll(/^\| `(\{.*?\})` \|/gm)].map(([, json = '']) => json);
    });

    test('are valid, and there is one for each field', () => {
      for (const json of filters) {
        const checked = check(z.object({ filter }), { filter: JSON.parse(json) });
        expect([json, checked.ok]).toEqual([json, true]);
      }
      const members = [
        'event',
        'contact',
        'did',
        'segment',
        'personFirst',
        'is',
        'isNot',
        'contains',
        'matches',
        'exists',
        'lessThan',
        'greaterThan',
        'and',
        'or',
        'not',
      ];
      for (const name of members)
        expect(
          filters.some((json) => json.includes(`"${name}":`)),
          name,
        ).toBe(true);
    });
  });
});
