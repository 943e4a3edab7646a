/** An account that asks for one slow report after another does not hold up the reports of others. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { quantile, times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import { makeAccountIn, startServed, stopServed } from '../tools/served.ts';
import { changeServer } from '../tools/weakened.ts';
import { withoutReservedPlace } from '../weaknesses/http.ts';

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

/** For each round, how many slow reports of one account were answered before the smallest one of another that was asked after them. */
const measure = async (name: string, count: number, main?: string) => {
  const path = join(folder, `${name}.db`);
  const [hostile, other] = [await makeAccountIn(`sqlite:${path}`), await makeAccountIn(`sqlite:${path}`, 1)];
  const env = { REPORTS_SECONDS: '240', REPORTS_DIR: join(folder, `${name}.reports`) };
  const served = await startServed(path, await freePort(), { main, env });
  const ask = async (url: string, token: string, init: RequestInit = {}) => {
    const response = await fetch(served.url + url, { ...init, headers: { Authorization: `Bearer ${token}` } });
    const text = await response.text();
    expect(response.status, text).toBe(200);
    return text;
  };
  const log = (token: string, event: readonly object[]) =>
    ask('/event/logEvents', token, { method: 'POST', body: JSON.stringify({ event }) });
  const small = () => ask('/report/reportLive', other);
  const slow = () => ask(`/report/reportFunnel?${slowFunnel}`, hostile);

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

  const answeredBefore: number[] = [];
  const milliseconds: number[] = [];
  for (let round = 0; round < count; round += 1) {
    let answered = 0;
    const asked = Array.from({ length: slowReports }, () => slow().finally(() => (answered += 1)));
    // From the first answer on, slow reports run in every place that they may have.
    await Promise.race(asked);
    const [before, began] = [answered, performance.now()];
    await small();
    milliseconds.push(performance.now() - began);
    answeredBefore.push(answered - before);
    await Promise.all(asked);
  }
  await stopServed(served);
  return { answeredBefore, milliseconds: Math.round(quantile(milliseconds, 0.5)) };
};

test('answers a small report while another account asks for slow ones', async (context) => {
  const ours = await measure('ours', rounds);
  const weakened = await measure(
    'weakened',
    rounds,
    changeServer(folder, 'without-reserved-place', withoutReservedPlace),
  );
  // Two slow ones run; one of these may end first.
  expect(Math.min(...ours.answeredBefore)).toBeLessThanOrEqual(1);
  // It starts after the second one that ends, because the accounts take turns.
  expect(Math.min(...weakened.answeredBefore)).toBeGreaterThanOrEqual(2);
  report(context, {
    fault: 'reports of one account in every place',
    count: `${rounds} × a small report while another account has ${slowReports} slow ones`,
    result: `at most ${Math.max(...ours.answeredBefore)} slow ones answered before it; ${ours.milliseconds} ms (median)`,
    weakened: `an account may take the last place: at least ${Math.min(...weakened.answeredBefore)} answered before it; ${weakened.milliseconds} ms (median)`,
  });
});
