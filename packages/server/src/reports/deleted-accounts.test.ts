import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/command.ts';
import { createSite } from '../../test/fixtures/site.ts';
import { reportTimeouts } from '../../test/fixtures/timeouts.ts';
import { openStore } from '../store/open.ts';
import { createReports } from './reports.ts';

it('deletes only a deleted account’s files, whether the account is open or not', async () => {
  const store = await openStore({ databaseURL: 'sqlite::memory:', role: 'server', onFatal: () => {} });
  onTestFinished(() => store.close());
  const folder = join(temporaryFolder(), 'reports');
  const open = () => {
    const opened = createReports({
      ...{ feed: store, folder, memory: 256 * 2 ** 20, threads: 1, eventsPerFile: 100, niceness: 0 },
      ...reportTimeouts,
    });
    onTestFinished(() => opened.close());
    return opened;
  };
  const sites = [await createSite(store), await createSite(store), await createSite(store)] as const;
  const before = open();
  for (const { account, browser, time } of sites) {
    await browser.log(...Array.from({ length: 300 }, () => ({})));
    const { result } = await before.run({
      ...{ report: 'totals', account, from: time, to: time + 1, edges: [time, time + 1] },
      ...{ robots: true, condition: null, value: null },
    });
    expect(result.total.events).toBe(300);
  }
  const [first, second, third] = sites.map(({ account }) => join(folder, String(account)));
  const exist = () => [first, second, third].map((path) => existsSync(path as string));
  await before.forget(sites[0].account);
  await before.close();
  expect(exist()).toEqual([false, true, true]);
  const after = open();
  await after.forget(sites[1].account);
  expect(exist()).toEqual([false, false, true]);
  expect(await after.accountsWithFiles()).toEqual([sites[2].account]);
});
