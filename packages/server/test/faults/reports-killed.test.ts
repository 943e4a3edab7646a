import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { account, holding, secret, setUp, totals } from '../fixtures/reports/report-world.ts';
import { times } from '../tools/counts.ts';
import { report } from '../tools/report.ts';

const kills = times({ quick: 20, full: 300 });

test('no erased text is left in a file of reports, whenever their process is killed while it is removed', async (context) => {
  let underWay = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    const { reports, files, world, right } = setUp();
    await reports.ask(totals);
    world.erase(9);
    let isDone = false;
    const purged = reports.purged(account).then(
      () => {
        isDone = true;
      },
      () => {},
    );
    await wait(Math.random() * 60);
    if (!isDone) underWay += 1;
    const killed = reports.processID as number;
    process.kill(killed, 'SIGKILL');
    await purged;
    await expect.poll(() => reports.processID).not.toBe(killed);
    await reports.purged(account);
    expect(await holding(files(), secret)).toEqual([]);
    expect((await reports.ask(totals)).answer).toEqual(right());
    await reports.close();
  }
  expect(underWay).toBeGreaterThan(kills / 10);
  report(context, {
    fault: 'kill -9 of the process of reports while erased events are removed from its files',
    count: `${kills} kills, ${underWay} of them under way`,
    result: 'no erased text in any file, every report right',
    weakened: '—',
  });
});
