import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { createClient } from '@firsthand/client';
import { checkContacts } from '@firsthand/import-formats';
import { expect, it } from 'vitest';
import { hashFile } from '../../src/commands/shared/hash-file.ts';
import { firsthand, firsthandJSON, temporaryDatabase, temporaryFolder } from '../fixtures/command.ts';
import { serveHere } from '../fixtures/serving.ts';

const fixture = (name: string) => fileURLToPath(new URL(`../../../import-formats/test/${name}`, import.meta.url));

const openShop = async () => {
  const database = temporaryDatabase();
  const { serverTokenUUID: token } = await firsthandJSON(['account', 'create', '--name', 'Shop'], database.env);
  const { url } = await serveHere(database.env);
  const env = { FIRSTHAND_TOKEN: token };
  return {
    client: createClient({ url, token }),
    run: (...args: string[]) => firsthand(['import', ...args, '--url', url], env),
    runContacts: (...args: string[]) => firsthand(['contact', 'import', ...args, '--url', url], env),
  };
};

const writeMessages = (name: string, messages: readonly unknown[]): string => {
  const path = join(temporaryFolder(), name);
  const text = messages.map((message) => (typeof message === 'string' ? message : JSON.stringify(message))).join('\n');
  writeFileSync(path, name.endsWith('.gz') ? gzipSync(text) : text);
  return path;
};

const message = (nth: number) => ({
  type: 'track',
  event: 'Bought',
  messageId: `message-${nth}`,
  anonymousId: `visitor-number-${nth % 10}`,
  timestamp: new Date(Date.UTC(2024, 0, 1, 0, nth)).toISOString(),
});

it('imports a file from each of six tools only once, and lists the imports', async () => {
  const { client, run } = await openShop();
  const files = ['segment.jsonl', 'posthog.jsonl', 'ga4.jsonl', 'umami.csv', 'matomo.json', 'goatcounter.csv'];
  const first = await run(...files.map(fixture));
  expect({ code: first.code, stderr: first.stderr }).toMatchObject({ code: 0 });
  const lines = first.stdout.trimEnd().split('\n');
  expect(lines.map((line) => /^([\w.]+): imported \d+, repeated 0/.exec(line)?.[1])).toEqual(files);
  const imported = lines.map((line) => Number(/imported (\d+)/.exec(line)?.[1]));
  expect(Math.min(...imported)).toBeGreaterThan(0);
  const count = async () => (await client.getEvent({ limit: 1_000 })).event.length;
  const stored = await count();
  const second = await run(...files.map(fixture));
  expect(second.stdout.match(/imported before, as .*\. Nothing has changed/g)).toHaveLength(files.length);
  expect(await count()).toBe(stored);
  const { import: imports } = await client.listImports({});
  expect(imports.map(({ importName, state }) => [importName, state])).toEqual(
    files.map((name) => [name, 'complete']).reverse(),
  );
  const list = await run('list');
  for (const { importID } of imports) expect(list.stdout).toContain(importID);
});

it('stores the labels that the other tool determined', async () => {
  const { client, run } = await openShop();
  await run(fixture('umami.csv'));
  const { event } = await client.getEvent({ limit: 1_000 });
  const labels = event.flatMap(({ eventAttrArray }) => eventAttrArray.filter(({ attrID }) => attrID === '$browser'));
  expect(labels.length).toBeGreaterThan(0);
});

it('reads a compressed file, and stores nothing with --dry-run', async () => {
  const { client, run } = await openShop();
  const path = writeMessages(
    'events.jsonl.gz',
    Array.from({ length: 2_500 }, (_, nth) => message(nth)),
  );
  expect(await run(path, '--dry-run')).toMatchObject({
    code: 0,
    stdout: 'events.jsonl.gz: would import 2500, repeated 0, refused 0\n',
  });
  expect((await client.getEvent({ limit: 1 })).event).toEqual([]);
  expect((await client.listImports({})).import).toEqual([]);
  const { code, stdout } = await run(path);
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/: imported 2500, repeated 0/) });
  expect((await client.getEvent({ limit: 1, order: 'asc' })).event[0]?.eventTime).toBe('2024-01-01T00:00:00.000Z');
});

it('continues an import that was interrupted, and prints the totals of all runs', async () => {
  const { client, run } = await openShop();
  const messages = Array.from({ length: 5 }, (_, nth) => message(nth));
  const path = writeMessages('events.jsonl', [...messages, '{ not JSON']);
  const entry = { kind: 'events', importName: 'events.jsonl', fingerprint: await hashFile(path) } as const;
  const { importID } = await client.createImport(entry);
  const first = [...messages.slice(0, 2), { ...message(2), timestamp: undefined }];
  await client.importEvents({ importID, position: 0, message: first });
  const { stdout } = await run(path);
  expect(stdout).toBe(
    `events.jsonl: imported 4, repeated 0, refused 2; 2 of them in this run, which continued it (import ${importID})\n`,
  );
});

it('continues a contact import that the console began, and prints the totals of all runs', async () => {
  const { client, runContacts } = await openShop();
  const path = writeMessages('contacts.csv', ['email', 'a@shop.example', 'b@shop.example', '""', 'c@shop.example']);
  const open = () => new Blob([readFileSync(path)]).stream();
  const columns = new Map([['email', 'contactEmailaddress' as const]]);
  const { settings } = await checkContacts({ open, columns });
  const entry = { kind: 'contacts', importName: 'contacts.csv', fingerprint: await hashFile(path, settings) } as const;
  const { importID } = await client.createImport(entry);
  await client.importContacts({ importID, position: 0, contact: [{ contactEmailaddress: 'a@shop.example' }] });
  expect((await runContacts(path)).stdout).toBe(
    `Created or changed 3, refused 1; 0 unchanged. This run continued the import:
Created 2, changed 0, refused 1; 0 unchanged
The import is ${importID}
`,
  );
  expect((await runContacts(path)).stdout).toMatch('Nothing has changed');
});

it('imports all other rows if some are refused, and prints the line numbers of refused rows', async () => {
  const { run } = await openShop();
  const path = writeMessages('events.jsonl', [
    message(1),
    '{ not JSON',
    { ...message(2), timestamp: undefined },
    { ...message(3), event: 'x'.repeat(300_000) },
    message(4),
  ]);
  const { code, stdout, stderr } = await run(path);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^events\.jsonl: imported 2, repeated 0, refused 3/);
  expect([...stderr.matchAll(/events\.jsonl, line (\d)/g)].map(([, line]) => line).sort()).toEqual(['2', '3', '4']);
});

it('removes everything that an import stored, and can then import the file again', async () => {
  const { client, run } = await openShop();
  await client.logEvent({ userUUID: 'visitor-number-1', eventName: 'Viewed' });
  const read = async () => (await client.getEvent({ limit: 1_000 })).event.map(({ eventUUID }) => eventUUID);
  const before = await read();
  const path = writeMessages('events.jsonl', [
    ...Array.from({ length: 300 }, (_, nth) => message(nth)),
    { type: 'identify', userId: 'customer-1', anonymousId: 'visitor-number-1', timestamp: '2024-02-01T00:00:00Z' },
  ]);
  const { stdout, stderr } = await run(path);
  expect(stderr).toBe('');
  const importID = /\(import (\S+)\)/.exec(stdout)?.[1] as string;
  expect(await client.getContact({ contactExternalID: 'customer-1' })).toBeDefined();
  const countReported = async () => {
    const { total } = await client.reportTotals({ from: '2024-01-01', to: '2024-01-02' });
    return total?.events ?? 0;
  };
  expect(await countReported()).toBe(300);
  expect(await run('undo', importID)).toMatchObject({ code: 0, stdout: 'Undid the import of events.jsonl\n' });
  expect(await read()).toEqual(before);
  expect(await countReported()).toBe(0);
  await expect(client.getContact({ contactExternalID: 'customer-1' })).rejects.toThrow();
  expect((await run(path)).stdout).toMatch(/imported 301/);
});

it('refuses files that it cannot read before it stores anything', async () => {
  const { client, run } = await openShop();
  const good = writeMessages('events.jsonl', [message(1)]);
  const totals = writeMessages('plausible.csv', ['date,visitors,pageviews', '2024-01-01,3,4']);
  const { code, stderr } = await run(good, totals);
  expect(code).toBe(1);
  expect(stderr).toMatch(/Plausible/);
  expect((await run(join(temporaryFolder(), 'missing.jsonl'))).stderr).toMatch(/no such file/i);
  expect((await run('undo', 'no-such-import')).stderr).toMatch(/import/);
  expect((await client.listImports({})).import).toEqual([]);
});
