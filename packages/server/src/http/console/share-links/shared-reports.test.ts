import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Refusal } from '../../../shared/refusal.ts';
import type { OpenedShareLink } from '../../../store/store.ts';
import { createRateLimit } from '../../access/rate-limits.ts';
import { createSharedReports } from './shared-reports.ts';

const hour = 3_600_000;
const start = Date.parse('2026-11-24T12:00Z');
const secret = `share_${'x'.repeat(32)}`;
const report = (part: string) => ({
  part,
  operation: 'reportTotals',
  request: { from: '2026-11-01', to: '2026-12-01', timezone: 'UTC' },
});
const link: OpenedShareLink = {
  ...{ shareID: 'a', account: 1, shareName: 'Teapots', page: 'overview', accountOrigin: [] },
  ...{ accountTimezone: 'UTC', accountCurrency: '' },
  view: JSON.stringify({ query: '', report: [report('totals'), report('other')] }),
  ...{ createdTime: start, expiresTime: start + 100 * hour, lastUsedTime: null },
};

beforeEach(() => {
  vi.useFakeTimers({ now: start });
});
afterEach(() => {
  vi.useRealTimers();
});

const openReports = (run: () => Promise<unknown> = async () => ({ total: 1, through: '1', milliseconds: 2 })) => {
  const runReport = vi.fn(run);
  const noteUse = vi.fn(async (_: { shareID: string; time: number }) => {});
  const wide = createRateLimit({ perSecond: 1_000, burst: 1_000 });
  const shared = createSharedReports({
    store: { findShareLink: async () => link, recordShareLinkUse: noteUse },
    // biome-ignore lint/suspicious/noExplicitAny: the other reports are not used
    handlers: { reportTotals: runReport } as any,
    unknownSecrets: wide,
    requestsOfAddress: wide,
    now: Date.now,
  });
  const read = async (part = 'totals') => shared.report(await shared.open(secret, 'address'), part);
  return { shared, runReport, noteUse, read };
};

describe('a shared report’s response', () => {
  it('is cached for ten seconds', async () => {
    const { runReport, read } = openReports();
    await read();
    await vi.advanceTimersByTimeAsync(9_999);
    expect(await read()).toEqual({ total: 1 });
    expect(runReport).toHaveBeenCalledTimes(1);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(vi.getTimerCount()).toBe(0);
    await read();
    expect(runReport).toHaveBeenCalledTimes(2);
  });

  it('is shared by all concurrent requests, even if the report takes a long time', async () => {
    const { runReport, read } = openReports(
      () => new Promise((resolve) => setTimeout(() => resolve({ total: 1 }), 60_000)),
    );
    const first = read();
    await vi.advanceTimersByTimeAsync(50_000);
    const second = read();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await Promise.all([first, second])).toEqual([{ total: 1 }, { total: 1 }]);
    expect(runReport).toHaveBeenCalledTimes(1);
  });
});

describe('a shared report’s refusal', () => {
  const refusing = (error: unknown) => openReports(() => Promise.reject(error));
  const codeOf = (result: Promise<unknown>) => result.then(undefined, ({ code, message }) => code ?? message);

  it('is cached for ten seconds if the report is too slow', async () => {
    const { runReport, read } = refusing(new Refusal('report_too_slow'));
    for (const passed of [0, 9_999]) {
      await vi.advanceTimersByTimeAsync(passed);
      expect(await codeOf(read())).toBe('report_too_slow');
    }
    expect(runReport).toHaveBeenCalledTimes(1);
    expect(await codeOf(read('other'))).toBe('report_too_slow');
    expect(runReport).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(await codeOf(read())).toBe('report_too_slow');
    expect(runReport).toHaveBeenCalledTimes(3);
  });

  it.each([
    ['if the engine is unavailable', new Refusal('no_reports'), 'no_reports'],
    ['if its request is invalid', new Refusal('unknown_segment'), 'invalid_field'],
    ['after an internal error', new Error('a fault'), 'a fault'],
  ])('is not cached %s', async (_, error, shown) => {
    const { runReport, read } = refusing(error);
    expect(await codeOf(read())).toBe(shown);
    expect(await codeOf(read())).toBe(shown);
    expect(runReport).toHaveBeenCalledTimes(2);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a link’s use', () => {
  it('is recorded once an hour, and again after a failure', async () => {
    const { shared, noteUse } = openReports();
    const note = async (last: number | null = null) => {
      shared.noteUse({ ...link, lastUsedTime: last });
      await vi.advanceTimersByTimeAsync(0);
    };
    noteUse.mockRejectedValueOnce(new Error('the disk is full'));
    for (let nth = 0; nth < 5; nth += 1) await note();
    expect(noteUse.mock.calls).toEqual([[{ shareID: 'a', time: start }], [{ shareID: 'a', time: start }]]);
    await vi.advanceTimersByTimeAsync(hour + 5);
    // Another server has recorded it.
    await note(start + hour);
    expect(noteUse).toHaveBeenCalledTimes(2);
    await note();
    expect(noteUse).toHaveBeenLastCalledWith({ shareID: 'a', time: start + hour });
  });
});
