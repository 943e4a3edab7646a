import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createFeed } from '../../test/fixtures/report-feed.ts';
import { answerOfModel } from '../../test/fixtures/report-model.ts';
import type { Question } from './questions.ts';
import { createReports } from './reports.ts';

const folder = mkdtempSync(join(tmpdir(), 'firsthand-reports-'));
const hour = 3_600_000;
const asked = { account: 1, from: 0, to: 10 * hour, robots: false, condition: null };
const totals: Question = { ...asked, report: 'totals', value: null, edges: [0, 5 * hour, 10 * hour] };
const world = createFeed();
const reports = createReports({
  feed: world.feed,
  folder,
  memory: 64 * 2 ** 20,
  threads: 1,
  onFault: (e) => console.log(e),
});
afterAll(async () => {
  await reports.close();
  rmSync(folder, { recursive: true });
});

const event = (user: number, hours: number, attributes: Record<string, string> = {}) => ({
  user,
  contact: 0,
  eventID: 1,
  eventTime: hours * hour,
  attributes: new Map(Object.entries(attributes)),
});

test('a report counts events, users, people and sessions', async () => {
  world.log([event(1, 1), event(1, 2, { path: '/' }), event(2, 7), event(3, 7, { robot: 'true' })]);
  world.own(1, [], [9]);
  world.own(2, [], [9]);
  const { answer } = await reports.ask(totals);
  expect(answer).toEqual(answerOfModel(totals, world.visible(), world.personOf));
  expect(answer).toMatchObject({ total: { events: 3, users: 2, people: 1, sessions: 3 } });
});
