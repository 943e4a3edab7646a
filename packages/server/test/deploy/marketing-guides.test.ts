/** Follows these guides with real reports: each block prints what the guide shows below it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RegisterCleanup, temporaryDatabase, temporaryFolder } from '../fixtures/command.ts';
import { readBlocks, runBlock } from '../fixtures/documents/guides.ts';
import { queryExport } from '../fixtures/exports.ts';
import { createAccount, serveHere } from '../fixtures/serving.ts';

const bin = fileURLToPath(new URL('../../bin/firsthand.js', import.meta.url));
const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const toLines = (text: string) => text.trim().split(/\r?\n/);
const toCSV = (rows: readonly Readonly<Record<string, unknown>>[]) =>
  [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))].map((cells) => cells.join(',')).join('\n');
/** Replaces IDs with `…`, as guides do. CSV output puts an apostrophe before an ID that begins with `-`. */
const withoutIDs = (text: string) => text.replaceAll(/^'?[\w-]{21}(?=,)/gm, '…');

let folder: string;
let env: Readonly<Record<string, string>>;
let url: string;
let account: Awaited<ReturnType<typeof createAccount>>;
const cleanups: Parameters<RegisterCleanup>[0][] = [];
beforeAll(async () => {
  const atEnd: RegisterCleanup = (cleanup) => cleanups.unshift(cleanup);
  folder = temporaryFolder(atEnd);
  const database = temporaryDatabase(atEnd).env;
  ({ url } = await serveHere(database, {}, atEnd));
  account = await createAccount(url);
  const { accountUUID: ACCOUNT, serverTokenUUID: token } = account;
  const server = { FIRSTHAND_URL: url, PORT: new URL(url).port };
  env = { ...database, ...server, ACCOUNT, SERVER_TOKEN: token, FIRSTHAND_TOKEN: token };
});
afterAll(async () => {
  for (const cleanup of cleanups) await cleanup();
});

const run = (code: string) =>
  runBlock(
    {
      language: 'sh',
      code: `set -e\ncd '${folder}'\n${code.replaceAll(/^firsthand /gm, `'${process.execPath}' '${bin}' `)}`,
    },
    env,
  );

// The order matters, because the second guide reads events that the first one creates.
describe.each(['campaigns.md', 'export.md', 'import-contacts.md', 'import.md'])('%s', (guide) => {
  test('produces the output that the guide shows', async () => {
    const blocks = readBlocks(guide);
    for (const [nth, { language, code }] of blocks.entries()) {
      if (language !== 'sh' && language !== 'sql') continue;
      const [output] = blocks.slice(nth + 1, nth + 2).filter((block) => block.language === 'text');
      const printed = language === 'sh' ? await run(code) : toCSV(await queryExport(join(folder, 'warehouse'), code));
      expect(toLines(withoutIDs(printed)), code).toEqual(toLines(output?.code ?? ''));
    }
  });

  test('mentions only labels that exist in the console', () => {
    const source = [
      'events/dimensions.ts',
      'events/explore.tsx',
      'events/breakdown.tsx',
      'overview/groups.tsx',
      'people/contacts.tsx',
      'settings/imports/import-events.tsx',
      'settings/imports/undo-import.tsx',
      'events.tsx',
    ]
      .map((name) => read(`console/src/pages/${name}`))
      .concat(
        ['filter-builder/kinds.ts', 'filter-button.tsx', 'save-csv.tsx'].map((name) =>
          read(`console/src/parts/${name}`),
        ),
        [
          'frame/pages.ts',
          'frame/settings-tabs.ts',
          'reading/without-value.ts',
          'pages/catalogue/entries.ts',
          'pages/events/group-table.tsx',
        ].map((name) => read(`console/src/${name}`)),
      )
      .join('\n');
    const labels = [...read(`docs/${guide}`).matchAll(/\*\*(.+?)\*\*/g)].map(([, name]) => name as string);
    expect(labels.length).toBeGreaterThan(0);
    expect(labels.filter((name) => !source.includes(name))).toEqual([]);
  });
});

test('rejects CSV requests as export.md describes', async () => {
  const problemOf = async (path: string, token = account.serverTokenUUID) => {
    const response = await fetch(url + path, {
      headers: { Accept: 'text/csv', Authorization: `Bearer ${token}` },
    });
    const { error } = (await response.json()) as { error: { code: string; field?: string } };
    return [response.status, error.code, error.field];
  };
  const breakdown = '/report/reportBreakdown?from=2026-11-01&by=event';
  expect(await problemOf('/event/getEvent?limit=5')).toEqual([400, 'invalid_field', 'limit']);
  expect(await problemOf(`${breakdown}&interval=day`)).toEqual([400, 'invalid_field', 'interval']);
  expect(await problemOf(breakdown, 'server_unknown')).toEqual([401, 'invalid_token', 'tokenUUID']);
  expect(await problemOf(breakdown, account.browserTokenUUID)).toEqual([403, 'token_kind', undefined]);
});
