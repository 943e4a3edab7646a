import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { account, listFilesContaining, secret, setUp, totals } from '../fixtures/reports/report-world.ts';
import { times } from '../tools/counts.ts';
import { report } from '../tools/report.ts';

const kills = times({ quick: 10, full: 300 });

test('leaves no erased text in report files, even if the process is killed during the removal', async (context) => {
  let duringRemoval = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    const { reports, files, world, right } = setUp();
    await reports.run(totals);
    world.erase(9);
    let isDone = false;
    const purged = reports.purged(account).then(
      () => {
        isDone = true;
      },
      () => {},
    );
    await wait(Math.random() * 60);
    if (!isDone) duringRemoval += 1;
    const killed = reports.processID as number;
    process.kill(killed, 'SIGKILL');
    await purged;
    await expect.poll(() => reports.processID).not.toBe(killed);
    await reports.purged(account);
    expect(await listFilesContaining(files(), secret)).toEqual([]);
    expect((await reports.run(totals)).result).toEqual(right());
    await reports.close();
  }
  expect(duringRemoval).toBeGreaterThan(kills / 10);
  report(context, {
    fault: 'report process killed while it removes erased events from its files',
    count: `${kills} × kill -9, ${duringRemoval} of them during the removal`,
    result: 'no erased text in any file, every report correct',
    weakened: '—',
  });
});
