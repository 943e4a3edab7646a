/** Tests that an account that keeps requesting slow reports does not delay other accounts' reports. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { quantile, times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import { createTestAccountIn, startServerProcess, stopServerProcess } from '../tools/server-process.ts';
import { changeServer } from '../tools/weakened-server.ts';
import { withoutReservedSlot } from '../weaknesses/http.ts';

const rounds = times({ quick: 2, full: 10 });
const events = 20_000;
const slowReports = 8;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-places-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const did = { did: { filter: { attrID: 'path', contains: '1' }, atLeast: 2 } };
const slowFunnel = new URLSearchParams({
  from: '2026-01-01',
  step: JSON.stringify(Array.from({ length: 8 }, () => did)),
});

/**
 * Returns, for each round, how many of one account's slow reports finished before a small report that another account
 * requested later.
 */
const measure = async (name: string, count: number, main?: string) => {
  const path = join(folder, `${name}.db`);
  const [hostile, other] = [
    await createTestAccountIn(`sqlite:${path}`),
    await createTestAccountIn(`sqlite:${path}`, 1),
  ];
  const env = { REPORTS_SECONDS: '240', REPORTS_DIR: join(folder, `${name}.reports`) };
  const served = await startServerProcess(path, await freePort(), { main, env });
  const fetchText = async (url: string, token: string, init: RequestInit = {}) => {
    const response = await fetch(served.url + url, { ...init, headers: { Authorization: `Bearer ${token}` } });
    const text = await response.text();
    expect(response.status, text).toBe(200);
    return text;
  };
  const log = (token: string, event: readonly object[]) =>
    fetchText('/event/logEvents', token, { method: 'POST', body: JSON.stringify({ event }) });
  const small = () => fetchText('/report/reportLive', other);
  const slow = () => fetchText(`/report/reportFunnel?${slowFunnel}`, hostile);

  for (let first = 0; first < events; first += 1_000) {
    const event = Array.from({ length: 1_000 }, (_, nth) => ({
      userUUID: `visitor-of-the-places-${(first + nth) % 500}`,
      eventID: 1,
      eventAttrArray: [{ attrID: 'path', attrValue: `/${first + nth}` }],
    }));
    await log(hostile, event);
  }
  await log(other, [{ userUUID: 'visitor-of-the-other-account', eventID: 1 }]);
  await Promise.all([small(), slow()]);

  const finishedBefore: number[] = [];
  const milliseconds: number[] = [];
  for (let round = 0; round < count; round += 1) {
    let answered = 0;
    const slowRequests = Array.from({ length: slowReports }, () => slow().finally(() => (answered += 1)));
    // Waits for the first slow report: once it has responded, slow reports occupy every slot that they are allowed to
    // use.
    await Promise.race(slowRequests);
    const [before, began] = [answered, performance.now()];
    await small();
    milliseconds.push(performance.now() - began);
    finishedBefore.push(answered - before);
    await Promise.all(slowRequests);
  }
  await stopServerProcess(served);
  return { finishedBefore, milliseconds: Math.round(quantile(milliseconds, 0.5)) };
};

test('runs a small report in time while another account requests slow reports', async (context) => {
  const ours = await measure('ours', rounds);
  const weakened = await measure(
    'weakened',
    rounds,
    changeServer(folder, 'without-reserved-place', withoutReservedSlot),
  );
  // Two slow reports are running, and one of them might finish first.
  expect(Math.min(...ours.finishedBefore)).toBeLessThanOrEqual(1);
  // On the weakened server, the small report starts only when the second slow report finishes, because accounts take
  // turns.
  expect(Math.min(...weakened.finishedBefore)).toBeGreaterThanOrEqual(2);
  report(context, {
    fault: "one account's reports in every slot",
    count: `${rounds} × a small report while another account has ${slowReports} slow ones`,
    result: `at most ${Math.max(...ours.finishedBefore)} slow ones finished before it; ${ours.milliseconds} ms (median)`,
    weakened: `an account may take the last slot: at least ${Math.min(...weakened.finishedBefore)} finished before it; ${weakened.milliseconds} ms (median)`,
  });
});
