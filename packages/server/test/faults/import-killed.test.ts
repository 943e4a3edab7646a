// Tests `firsthand import`, run again after the server or the command was killed at random moments.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createClient } from '@firsthand/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { spawnFirsthand } from '../fixtures/command.ts';
import { times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import { createTestAccount, startServerProcess, stopServerProcess } from '../tools/server-process.ts';
import { readEverything } from './tools/ledger.ts';

const kills = times({ quick: 4, full: 60 });
const messages = times({ quick: 20_000, full: 300_000 });

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-import-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('imports each message once, although the server or the command is killed at random moments', async (context) => {
  const file = join(folder, 'events.jsonl');
  // Messages without a messageId, so that only the import's position prevents duplicates.
  const lines = Array.from({ length: messages }, (_, nth) => ({
    ...{ type: 'track', event: 'Bought', anonymousId: `visitor-number-${nth % 500}`, properties: { nth } },
    timestamp: new Date(Date.UTC(2024, 0, 1) + nth * 60_000).toISOString(),
  }));
  writeFileSync(file, lines.map((line) => JSON.stringify(line)).join('\n'));
  const path = join(folder, 'killed.db');
  const token = await createTestAccount(path);
  const port = await freePort();
  const start = () => startServerProcess(path, port);
  let server = await start();
  const run = () => spawnFirsthand(['import', file, '--url', server.url], { FIRSTHAND_TOKEN: token });
  const readPosition = async () => {
    const { import: imports } = await createClient({ url: server.url, token }).listImports({});
    return imports[0]?.position ?? 0;
  };
  let duringRun = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    const before = await readPosition();
    const running = run();
    let hasEnded = false;
    void running.ended.then(() => {
      hasEnded = true;
    });
    while (!hasEnded && (await readPosition()) === before) await wait(10);
    await wait(100 * Math.random());
    const isServer = kill % 2 === 0;
    (isServer ? server.process : running.child).kill('SIGKILL');
    if (isServer) await server.ended;
    const { code } = await running.ended;
    if (code !== 0) duringRun += 1;
    if (isServer) server = await start();
  }
  const last = await run().ended;
  expect(last.code, last.stderr).toBe(0);
  const client = createClient({ url: server.url, token });
  expect((await client.listImports({})).import).toMatchObject([{ state: 'complete', imported: messages, refused: 0 }]);
  const stored = await readEverything(server.url, token);
  expect(stored).toHaveLength(messages);
  expect(await stopServerProcess(server)).toBe(0);
  expect(duringRun).toBeGreaterThan(kills / 3);
  report(context, {
    fault: 'import interrupted',
    count: `${kills} × kill -9 of the server or the command, ${duringRun} of them during a run`,
    result: `${messages} messages without a messageId, each stored once`,
    weakened: '—',
  });
});
