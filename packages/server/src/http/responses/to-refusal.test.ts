import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createUnavailableLog } from './to-refusal.ts';

it('logs once a minute why the store cannot write, with the number of affected requests', () => {
  const lines: { requests: number; fault: { code: string } }[] = [];
  let now = 0;
  const log = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) });
  const logFault = createUnavailableLog(log, () => now);
  const full = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
  for (; now < 180_000; now += 1_000) logFault('request', full);
  expect(lines.map(({ requests }) => requests)).toEqual([1, 60, 60]);
  expect(lines[0]?.fault).toMatchObject({ code: 'SQLITE_FULL' });
});
