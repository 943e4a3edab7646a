/** Tests that each import that `packages/README.md` forbids has a lint rule whose message names the alternative. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { overrides } from '../../arrows.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

const pages = /serves the built files/;
const client = /Only commands use the client/;
const published = /published names/;
const driver = /Only drivers may depend/;
const inwards = /Arrows point inwards/;
const contract = /no other package and does no I\/O/;
const dependencyFree = /imports nothing/;
const tracker = /types and constants only/;
const callers = /by its contract only/;
const usedByAll = /Every folder uses/;
const commands = /only lists the commands/;
const ingest = /must not depend on the transport/;
const store = /A store must not depend on HTTP/;
const shared = /must not import a driver/;
const library = /its database's library/;
const drivers = /Drivers must not import each other/;
const documentation = /built from texts and the contract/;
const documentationPage = /its own folder and minisearch/;
const anyProgram = /only through the client/;
const formats = /runs on Node and in a page/;
const everyPage = /shared by every page/;
const pure = /Pure functions/;
const oneDoor = /has one interface/;
const below = /below the other folders/;
const oneDirection = /in one direction/;

/** `up` is the path from the importing file to `src`. */
const otherPackages = (up: string) => ({
  '@firsthand/tracker': pages,
  [`${up}../../tracker/src/index.ts`]: pages,
  [`${up}../../docs/build/site.ts`]: pages,
  [`${up}../../console/src/main.tsx`]: pages,
  [`${up}../../contract/src/limits.ts`]: published,
});
const outside = (up: string) => ({
  ...otherPackages(up),
  '@firsthand/client': client,
  [`${up}../../client/src/index.ts`]: client,
});
const noDriver = (up: string) => ({
  [`${up}store/sqlite/store.ts`]: driver,
  [`${up}store/postgres/store.ts`]: driver,
  'better-sqlite3': driver,
  pg: driver,
});
const forbiddenInStore = {
  '../http/routes.ts': store,
  '../ingest/token.ts': store,
  '../demo/demo.ts': store,
  '../sample-shop/fill.ts': store,
  '../commands/shared/flags.ts': store,
  '../http/app.ts': store,
  '../config/config.ts': store,
  '../main.ts': store,
  '../serving/serve.ts': store,
  hono: store,
  'hono/cookie': store,
  '@hono/node-server': store,
};
const oneLevelDeeper = (imports: Readonly<Record<string, RegExp>>) =>
  Object.fromEntries(Object.entries(imports).map(([name, why]) => [name.replace(/^\.\.\//, '../../'), why]));

/** The imports that each file must not have, and the lint message for each. */
const forbidden: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  'contract/src/event.ts': {
    '@firsthand/server': contract,
    '@firsthand/client': contract,
    'node:fs': contract,
    hono: contract,
    'hono/cookie': contract,
    '../../server/src/http/app.ts': contract,
  },
  'contract/src/document/json-schemas.ts': {
    '@firsthand/client': contract,
    'node:fs': contract,
    hono: contract,
    '../../../server/src/http/app.ts': contract,
  },
  'contract/src/limits.ts': {
    './fields.ts': dependencyFree,
    zod: dependencyFree,
    'node:fs': dependencyFree,
    '../../x.ts': dependencyFree,
  },
  'contract/src/identifiers.ts': { './limits.ts': dependencyFree, zod: dependencyFree, nanoid: dependencyFree },
  'tracker/src/delivery/queue.ts': {
    '@firsthand/contract': tracker,
    '@firsthand/contract/event': tracker,
    '@firsthand/client': tracker,
    zod: tracker,
    'node:fs': /runs in a page/,
    '../../../contract/src/limits.ts': published,
  },
  'tracker/src/page.ts': { '@firsthand/contract': tracker, '../../contract/src/limits.ts': published },
  'docs/build/site.ts': {
    '../../server/src/config/config.ts': documentation,
    '../../tracker/src/snippet.ts': documentation,
    '../src/search.ts': documentation,
    '../../contract/src/limits.ts': published,
  },
  'docs/src/search.ts': {
    '../build/page.ts': documentationPage,
    marked: documentationPage,
    '@firsthand/contract/limits': documentationPage,
  },
  'import-formats/src/read-messages.ts': { 'node:fs': formats, '@firsthand/contract/checking': formats, zod: formats },
  'import-formats/src/formats/segment.ts': { 'node:fs': formats, '../../../contract/src/checking.ts': formats },
  'console/src/api.ts': {
    '../../import-formats/src/index.ts': anyProgram,
    '@firsthand/contract/limits': anyProgram,
    '../../server/src/config/config.ts': anyProgram,
    '../../client/src/client.ts': anyProgram,
    zod: anyProgram,
    'node:fs': anyProgram,
  },
  'console/src/parts/card.tsx': { '../pages/live.tsx': everyPage, '../frame/frame.tsx': everyPage, zod: anyProgram },
  'client/src/client.ts': {
    '@firsthand/server': callers,
    '@firsthand/tracker': callers,
    'node:fs': callers,
    '../../contract/src/errors.ts': published,
    '../../server/src/http/app.ts': published,
  },
  'server/src/main.ts': {
    ...outside('./'),
    ...noDriver('./'),
    './http/routes.ts': commands,
    './ingest/token.ts': commands,
    './store/open.ts': commands,
  },
  'server/src/serving/serve.ts': {
    ...outside('../'),
    ...noDriver('../'),
    '../main.ts': inwards,
    '../commands/serve.ts': inwards,
  },
  'server/src/logging/log.ts': { '../http/routes.ts': usedByAll, '../store/store.ts': usedByAll, hono: usedByAll },
  'server/src/shared/bounded-map.ts': { '../http/routes.ts': usedByAll, '../logging/log.ts': usedByAll },
  'server/src/shared/refusal.ts': { '../http/routes.ts': usedByAll, '../config/config.ts': usedByAll },
  'server/src/commands/backup.ts': { ...otherPackages('../'), ...noDriver('../'), '../main.ts': inwards },
  'server/src/demo/demo.ts': {
    ...outside('../'),
    ...noDriver('../'),
    '../serving/serve.ts': inwards,
    '../http/app.ts': inwards,
    '../config/config.ts': inwards,
    '../commands/shared/flags.ts': inwards,
    '../store/open.ts': inwards,
  },
  'server/src/sample-shop/fill.ts': {
    ...outside('../'),
    ...noDriver('../'),
    '../serving/serve.ts': inwards,
    '../commands/shared/flags.ts': inwards,
    '../demo/demo.ts': inwards,
    '../store/open.ts': inwards,
  },
  'server/src/http/app.ts': {
    ...outside('../'),
    ...noDriver('../'),
    '../main.ts': inwards,
    '../serving/serve.ts': inwards,
    '../config/config.ts': inwards,
    '../commands/shared/flags.ts': inwards,
    '../demo/demo.ts': inwards,
    '../store/open.ts': inwards,
  },
  'server/src/http/routes.ts': {
    ...outside('../'),
    ...noDriver('../'),
    '../main.ts': inwards,
    '../serving/serve.ts': inwards,
    './app.ts': inwards,
    '../config/config.ts': inwards,
    '../commands/shared/flags.ts': inwards,
    '../demo/demo.ts': inwards,
    '../store/open.ts': inwards,
  },
  'server/src/http/operations/events.ts': {
    ...outside('../../'),
    ...noDriver('../../'),
    '../../main.ts': inwards,
    '../../serving/serve.ts': inwards,
    '../app.ts': inwards,
    '../../config/config.ts': inwards,
    '../../commands/shared/flags.ts': inwards,
    '../../demo/demo.ts': inwards,
    '../../store/open.ts': inwards,
  },
  'server/src/ingest/proof.ts': {
    ...outside('../'),
    ...noDriver('../'),
    '../http/routes.ts': ingest,
    '../demo/demo.ts': ingest,
    '../commands/shared/flags.ts': ingest,
    '../http/app.ts': ingest,
    '../config/config.ts': ingest,
    '../main.ts': ingest,
    '../serving/serve.ts': ingest,
    hono: ingest,
    'hono/cookie': ingest,
    '@hono/node-server': ingest,
    '../store/open.ts': /The caller chooses the store/,
  },
  'server/src/store/store.ts': {
    ...outside('../'),
    ...forbiddenInStore,
    './sqlite/store.ts': shared,
    './postgres/store.ts': shared,
    'better-sqlite3': shared,
    pg: shared,
  },
  'server/src/store/open.ts': { ...outside('../'), ...forbiddenInStore, 'better-sqlite3': library, pg: library },
  'server/src/store/sqlite/store.ts': {
    ...outside('../../'),
    ...oneLevelDeeper(forbiddenInStore),
    '../postgres/store.ts': drivers,
    pg: drivers,
    '../open.ts': drivers,
  },
  'server/src/store/postgres/store.ts': {
    ...outside('../../'),
    ...oneLevelDeeper(forbiddenInStore),
    '../sqlite/store.ts': drivers,
    'better-sqlite3': drivers,
    '../open.ts': drivers,
  },
  'server/src/store/sqlite/events/events.ts': {
    ...outside('../../../'),
    ...oneLevelDeeper(oneLevelDeeper(forbiddenInStore)),
    '../../postgres/store.ts': drivers,
    pg: drivers,
    '../../open.ts': drivers,
    '../event-log/event-block.ts': oneDoor,
  },
  'server/src/store/sqlite/engine.ts': { './event-log/compaction.ts': oneDoor },
  'server/src/store/sqlite/event-log/event-log.ts': {
    ...outside('../../../'),
    ...oneLevelDeeper(oneLevelDeeper(forbiddenInStore)),
    '../../postgres/store.ts': drivers,
    pg: drivers,
    '../../open.ts': drivers,
    '../events/rollups.ts': below,
    '../engine.ts': below,
  },
  'server/src/store/postgres/events/events.ts': {
    ...outside('../../../'),
    ...oneLevelDeeper(oneLevelDeeper(forbiddenInStore)),
    '../../sqlite/store.ts': drivers,
    'better-sqlite3': drivers,
    '../../open.ts': drivers,
    '../erasure/erasures.ts': oneDirection,
    '../store.ts': oneDirection,
  },
  'server/src/store/postgres/database/connection.ts': { '../days/days.ts': oneDirection },
  'server/src/identity/merges.ts': {
    '../store/store.ts': pure,
    'node:fs': pure,
    zod: pure,
    '@firsthand/contract/limits': pure,
  },
};

/** Files that import each other's types. */
const cycle = ['server/src/identity/one.ts', 'server/src/identity/other.ts'] as const;

interface Diagnostic {
  readonly message: string;
  readonly location: { readonly path: string; readonly start: { readonly line: number } };
}

let messages: Map<string, string>;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-arrows-'));
  cpSync(join(root, '.biome.json'), join(folder, '.biome.json'));
  for (const [file, imports] of Object.entries(forbidden)) {
    const path = join(folder, 'packages', file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(
      path,
      Object.keys(imports)
        .map((name) => `await import('${name}');\n`)
        .join(''),
    );
  }
  for (const [file, other] of [cycle, [...cycle].reverse()] as [string, string][]) {
    const path = join(folder, 'packages', file);
    writeFileSync(path, `import type { T } from './${basename(other)}';\nexport type U = T;\n`);
  }
  const flags = [
    '--only=style/noRestrictedImports',
    '--only=suspicious/noImportCycles',
    '--vcs-enabled=false',
    '--reporter=json',
    '--max-diagnostics=none',
  ];
  // Biome exits with 1 when it finds problems, as it does here, so this still resolves.
  const output = await new Promise<string>((resolve) =>
    execFile(join(root, 'node_modules/.bin/biome'), ['lint', ...flags, '.'], { cwd: folder }, (_, stdout) =>
      resolve(stdout),
    ),
  );
  const { diagnostics }: { diagnostics: Diagnostic[] } = JSON.parse(output);
  messages = new Map();
  for (const { message, location } of diagnostics) {
    const place = `${location.path}:${location.start.line}`;
    messages.set(place, `${messages.get(place) ?? ''}${message}\n`);
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

const rows = Object.entries(forbidden).flatMap(([file, imports]) =>
  Object.entries(imports).map(([name, why], index) => [file, name, why, index + 1] as const),
);

test.each(rows)('forbids %s to import %s', (file, _, why, line) => {
  expect(messages.get(`packages/${file}:${line}`)).toMatch(why);
});

test.each(cycle)('forbids %s to be part of an import cycle, even a type-only one', (file) => {
  expect(messages.get(`packages/${file}:1`)).toMatch(/cycle/);
});

test('keeps .biome.json in sync with arrows.ts', () => {
  expect(JSON.parse(readFileSync(join(root, '.biome.json'), 'utf8')).overrides).toEqual(overrides);
});
