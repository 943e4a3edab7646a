import { pino } from 'pino';
import { expect, it, onTestFinished, vi } from 'vitest';
import { soon } from '../../../test/fixtures/timeouts.ts';
import { startQuota } from './quota.ts';

const hour = 3_600_000;

/**
 * Starts a quota of 1,000 bytes for accounts whose sizes the test sets. `measured` resolves after the next measurement.
 */
const open = () => {
  const lines: { level: number; msg: string; accountUUID?: string }[] = [];
  const log = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) });
  const state = { sizes: [] as number[], now: 0, broken: false, isDeaf: false, measures: 0, notices: [] as string[] };
  const measureAccounts = async () => {
    state.measures += 1;
    if (state.broken) throw new Error('away');
    return state.sizes.map((storedBytes, nth) => ({
      account: nth + 1,
      accountUUID: `account-${nth + 1}`,
      storedBytes,
    }));
  };
  const options = { accountBytes: 1_000, log, everyMilliseconds: 1, clock: () => state.now };
  const noticeQuota = async ({ account, percent }: { account: number; percent: number }) => {
    state.notices.push(`account-${account}: ${percent} %`);
    if (state.isDeaf) throw new Error('away');
  };
  const quota = startQuota({ measureAccounts, noticeQuota }, options);
  onTestFinished(() => quota.stop());
  const measured = async () => {
    const { measures } = state;
    await vi.waitUntil(() => state.measures > measures + 1, { ...soon, interval: 1 });
  };
  return { state, lines, quota, measured };
};

it('reports an account as over its quota until a measurement finds it below its quota', async () => {
  const { state, quota, measured } = open();
  state.sizes = [999, 1_000];
  await measured();
  expect([1, 2, 3].map(quota.isOver)).toEqual([false, true, false]);
  state.sizes = [1_001, 999];
  await measured();
  expect([1, 2, 3].map(quota.isOver)).toEqual([true, false, false]);
});

it('warns hourly about each account that is near or over its quota', async () => {
  const { state, lines, measured } = open();
  state.sizes = [799, 800, 1_000];
  await measured();
  await measured();
  const takeWarnings = () => lines.splice(0).map(({ accountUUID, msg }) => `${accountUUID}: ${msg}`);
  const both = [
    'account-2: the account is near ACCOUNT_BYTES',
    'account-3: the account is over ACCOUNT_BYTES: new data is refused',
  ];
  expect(takeWarnings()).toEqual(both);
  expect(state.notices).toEqual(['account-2: 80 %', 'account-3: 100 %']);
  state.sizes = [0, 1_000, 900];
  await measured();
  expect(takeWarnings()).toEqual([both[1]?.replace('3', '2'), both[0]?.replace('2', '3')]);
  state.now = hour;
  await measured();
  await measured();
  expect(takeWarnings()).toHaveLength(2);
});

it('keeps the last measurement while the store cannot be read, and logs the error once', async () => {
  const { state, lines, quota, measured } = open();
  state.sizes = [1_000];
  await measured();
  lines.length = 0;
  state.broken = true;
  await measured();
  await measured();
  expect(quota.isOver(1)).toBe(true);
  expect(lines.map(({ msg }) => msg)).toEqual([
    'the accounts could not be measured; the last measurement still applies',
  ]);
  state.broken = false;
  state.sizes = [0];
  await measured();
  expect(quota.isOver(1)).toBe(false);
});

it('logs that the message about a quota could not be stored, and keeps measuring', async () => {
  const { state, lines, quota, measured } = open();
  state.isDeaf = true;
  state.sizes = [1_000];
  await measured();
  expect(lines.map(({ msg }) => msg)).toEqual([
    'the account is over ACCOUNT_BYTES: new data is refused',
    'the message of webhooks about a quota could not be stored',
  ]);
  expect(quota.isOver(1)).toBe(true);
});
