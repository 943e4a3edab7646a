/** Tests the tracker in Chromium, both as built and with weaker rules about what it is allowed to drop. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../../../tracker/test/chromium.ts';
import { fillSnippet, openRecorder } from '../../../tracker/test/recorder.ts';
import { times } from '../tools/counts.ts';
import { report } from '../tools/report.ts';

const events = times({ quick: 2, full: 10 });
/** How long to wait before an event that has not arrived counts as lost: much longer than a retry takes. */
const timeoutMilliseconds = times({ quick: 8_000, full: 15_000 });

const packages = fileURLToPath(new URL('../../..', import.meta.url));
let folder: string;
let browser: Browser;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-tracker-'));
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

interface Weakness {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Builds the tracker, optionally with a change to its source. Returns the folder with the scripts. */
const buildChanged = async (name: string, weakness?: Weakness): Promise<string> => {
  const copy = join(folder, name);
  for (const part of ['tracker', 'contract', 'fresh.ts', 'tsconfig.base.json']) {
    const filter = (path: string) => !/node_modules|dist/.test(path.slice(packages.length));
    cpSync(join(packages, part), join(copy, 'packages', part), { recursive: true, filter });
  }
  symlinkSync(join(packages, '../node_modules'), join(copy, 'node_modules'));
  symlinkSync(join(packages, 'tracker/node_modules'), join(copy, 'packages/tracker/node_modules'));
  if (weakness) {
    const path = join(copy, 'packages/tracker/src', weakness.file);
    const text = readFileSync(path, 'utf8');
    expect(text.split(weakness.from)).toHaveLength(2);
    writeFileSync(
      path,
      text.replace(weakness.from, () => weakness.to),
    );
  }
  const { buildTracker } = await import(join(copy, 'packages/tracker/build/build.ts'));
  const scripts = join(copy, 'scripts');
  await buildTracker(scripts);
  return scripts;
};

type RecordedResponse = Awaited<ReturnType<Awaited<ReturnType<typeof openRecorder>>['respond']>>;

/** Logs each event from a separate page in a new browser profile. Returns the number of events that never arrive. */
const countLost = async (scripts: string, after: string, firstResponse: RecordedResponse): Promise<number> => {
  const recorder = await openRecorder(scripts);
  const answered = new Set<string>();
  const arrived = new Set<string>();
  recorder.respond = ({ body }) => {
    const uuids = (body.event ?? []).map(({ eventUUID }) => eventUUID);
    const isFirst = uuids.some((eventUUID) => !answered.has(eventUUID));
    for (const eventUUID of uuids) answered.add(eventUUID);
    if (firstResponse && isFirst) return firstResponse;
    for (const eventUUID of uuids) arrived.add(eventUUID);
    return undefined;
  };
  const tag = fillSnippet(`http://127.0.0.1:${recorder.port}/tracker.js`);
  recorder.pages['/'] = { html: `<!doctype html><head>${tag}</head>` };
  const contexts = await Promise.all(
    Array.from({ length: events }, async () => {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(`http://localhost:${recorder.port}/`);
      await page.waitForFunction("Object.hasOwn(tracker, 'push')");
      await page.evaluate(`tracker.log(1); ${after}`);
      return context;
    }),
  );
  const end = Date.now() + timeoutMilliseconds;
  while (arrived.size < events && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 100));
  for (const context of contexts) await context.close();
  await recorder.down();
  return events - arrived.size;
};

const springBoot = { status: 404, body: { status: 404, error: 'Not Found', path: '/s/update' } };
const unavailable = { status: 503, headers: { 'Retry-After': '1' } };

test.for<{ fault: string; after: string; response: RecordedResponse; rule: string; weakness: Weakness }>([
  {
    fault: 'tracker: another server responds on the path of the service',
    after: '',
    response: springBoot,
    rule: 'takes any JSON with a status for the service’s response',
    weakness: {
      file: 'delivery/final-response.ts',
      from: "(response.status === '200' &&",
      to: "/^[24](?!08|29)/.test(response.status as string) || (response.status === '200' &&",
    },
  },
  {
    fault: 'tracker: the page clears localStorage',
    after: 'localStorage.clear()',
    response: undefined,
    rule: 'looks for records only in localStorage',
    weakness: {
      file: 'delivery/storage.ts',
      from: 'writeItem(key, copies[key] as string);',
      to: 'if (stored[key]) writeItem(key, copies[key] as string); else delete copies[key];',
    },
  },
  {
    fault: 'tracker: the clock jumps by 30 days while an event waits',
    after: 'const { now } = Date; Date.now = () => now() + 30 * 864e5;',
    response: unavailable,
    rule: 'drops records older than 7 days',
    weakness: {
      file: 'delivery/queue.ts',
      from: 'key.endsWith(token)) keys',
      to: 'key.endsWith(token) && parseInt(key.slice(10, 18), 36) > Date.now() - 7 * 864e5) keys',
    },
  },
])('loses no event after the fault “$fault”', async ({ fault, after, response, rule, weakness }, context) => {
  expect(await countLost(await buildChanged(`ours${fault.length}`), after, response)).toBe(0);
  const lost = await countLost(await buildChanged(`weakened${fault.length}`, weakness), after, response);
  expect(lost).toBe(events);
  report(context, {
    fault,
    count: `${events} events in Chromium, each in a new profile`,
    result: '0 lost',
    weakened: `${rule}: ${lost} lost`,
  });
});
