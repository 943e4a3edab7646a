import { expect, onTestFinished, test } from 'vitest';
import { describeStore } from '../../../test/conformance/index.ts';
import { newMigratedDatabase } from '../../../test/fixtures/postgres/databases.ts';
import { createSite } from '../../../test/fixtures/site.ts';
import { nextStart } from '../../../test/fixtures/store.ts';
import { openStore } from '../open.ts';

const open = async () => openStore({ databaseURL: await newMigratedDatabase(), role: 'server', onFatal: fail });

/**
 * Starts all tests on the same day on a cluster, because creating a month's tables takes longer there than most tests.
 */
const start = nextStart();

describeStore('PostgreSQL', open, { start: process.env.TEST_STORE === 'citus' ? () => start : nextStart });

test('measures the commits that store events: their number, their duration and that of COMMIT', async () => {
  const store = await open();
  onTestFinished(() => store.close());
  const { server } = await createSite(store);
  const logged = 20;
  await Promise.all(Array.from({ length: logged }, () => server.log({})));
  const { commits } = await store.measure();
  const countOf = ({ counts }: { counts: readonly number[] }) => counts.reduce((sum, count) => sum + count, 0);
  expect(commits?.events.sum).toBe(logged);
  for (const each of Object.values(commits ?? {})) expect(countOf(each)).toBe(countOf(commits?.events as never));
  expect(commits?.statementSeconds.sum).toBeGreaterThan(0);
  expect(commits?.seconds.sum).toBeGreaterThan(commits?.statementSeconds.sum as number);
});

function fail(error: Error): never {
  throw error;
}
