/**
 * Import restrictions: the table that generates the `overrides` of `.biome.json`. Run `npm run arrows` after a change.
 * Biome applies only the last override that matches a file, so each entry lists all rules for its files.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface Rule {
  /** Import paths in `.gitignore` syntax: a later pattern with `!` makes exceptions. */
  readonly group: readonly string[];
  readonly message: string;
}

const noPages: Rule = {
  group: ['@firsthand/tracker', '@firsthand/tracker/**', '**/tracker/**', '**/docs/**', '**/console/src/**'],
  message:
    'The server serves the built files of the tracker, the console and the documentation; it does not import them.',
};
const noClient: Rule = {
  group: ['@firsthand/client', '@firsthand/client/**', '**/client/src/**'],
  message: 'Only commands use the client to call a server.',
};
const publishedNames: Rule = {
  group: ['**/contract/src/**'],
  message: 'Import the contract by its published names: @firsthand/contract/…',
};
const noDriver: Rule = {
  group: ['**/sqlite/**', '**/postgres/**', 'better-sqlite3', 'pg'],
  message: 'Only drivers may depend on a specific database: use the Store interface, and store/open.ts to open one.',
};

/** Files that start and wire a server. */
const startup = ['**/main.ts', '**/commands/**', '**/serving/**', '**/config/**', '**/app.ts'];
const outside = [
  ...[...startup, '**/http/**', '**/ingest/**', '**/demo/**', '**/sample-shop/**'],
  ...['hono', 'hono/**', '@hono/**'],
];
const noRequests: Rule = {
  group: outside,
  message:
    'A store must not depend on HTTP or on how requests become events: pass what it needs as arguments of the Store interface.',
};

const inServer = [noPages, noClient, publishedNames];
const inStore = [...inServer, noRequests];
const anotherDriver = (group: readonly string[]): Rule => ({
  group,
  message: 'Drivers must not import each other: put shared code in store/.',
});

/** Files that every folder of the server uses. */
const shared = ['packages/server/src/shared/**', 'packages/server/src/logging/**'];
const inPages: readonly Rule[] = [
  {
    group: ['@firsthand/**', '!@firsthand/contract/limits', '!@firsthand/contract/identifiers', 'zod'],
    message:
      'The tracker may import types and constants only: importing one schema would make it 77 kB. Use @firsthand/contract/limits or /identifiers.',
  },
  { group: ['node:*'], message: 'The tracker runs in a page.' },
];
const anotherPackage = (group: string): Rule => ({
  group: [group],
  message: 'Import other packages by their published names: @firsthand/contract/limits or /identifiers.',
});

const onlyTheClient: Rule = {
  group: [
    ...['@firsthand/**', '!@firsthand/client', '!@firsthand/import-formats'],
    ...['**/server/**', '**/client/**', '**/contract/**', '**/import-formats/**', 'zod', 'node:*'],
  ],
  message: 'The console accesses the service only through the client, like any other program, and runs in a page.',
};

const not = (paths: readonly string[]): string[] => paths.map((path) => `!${path}`);

const selfContained = (...ownFiles: string[]): Rule => ({
  group: ['**', ...not(ownFiles), '!zod'],
  message:
    'All other packages depend on the contract, also in the browser: it imports no other package and does no I/O.',
});

const selfContainedFormats = (...ownFiles: string[]): Rule => ({
  group: ['**', ...not(ownFiles), '../../**', '!@noble/hashes/**'],
  message:
    'The command and the console read files with this package: it runs on Node and in a page, and imports only hashes.',
});

/** Files of the contract that the tracker bundles. */
const trackerFiles = ['limits', 'identifiers'].map((name) => `packages/contract/src/${name}.ts`);
const inSQLite = [...inStore, anotherDriver(['**/postgres/**', 'pg', '**/open.ts'])];
const eventLog = 'packages/server/src/store/sqlite/event-log/**';
const onlyItsInterface: Rule = {
  group: ['**/event-log/**', '!**/event-log/event-log.ts'],
  message: 'The event log has one interface: event-log/event-log.ts.',
};

const inPostgres = [...inStore, anotherDriver(['**/sqlite/**', 'better-sqlite3', '**/open.ts'])];
/** Each folder may import the ones before it. */
const postgresRooms = [
  ...['database', 'days', 'transactions', 'accounts', 'contacts', 'events', 'erasure'],
  ...['feed', 'copy', 'doctor'],
];
const onlyEarlierRooms = (room: string): Rule => ({
  group: [...postgresRooms.slice(postgresRooms.indexOf(room) + 1), 'store.ts'].map((later) =>
    later.endsWith('.ts') ? `../${later}` : `../${later}/**`,
  ),
  message: `The folders of the driver import each other in one direction only: ${postgresRooms.join(', ')}.`,
});

const arrows: readonly (readonly [files: readonly string[], rules: readonly Rule[]])[] = [
  [['packages/contract/src/*.ts', ...not(trackerFiles)], [selfContained('./**')]],
  [['packages/contract/src/*/**'], [selfContained('./**', '../*.ts')]],
  [
    trackerFiles,
    [
      {
        group: ['**'],
        message:
          'The tracker bundles this file into every page: it imports nothing. Put code that needs imports in another file.',
      },
    ],
  ],
  [['packages/tracker/src/*.ts'], [...inPages, anotherPackage('../**')]],
  [['packages/tracker/src/*/**'], [...inPages, anotherPackage('../../**')]],
  [
    ['packages/docs/build/**'],
    [
      {
        group: [
          '**/server/**',
          '**/tracker/**',
          '**/client/**',
          '../src/**',
          '!../src/search-entry.ts',
          '../../src/**',
        ],
        message: 'The documentation is built from texts and the contract; the server fills in the placeholders.',
      },
      publishedNames,
    ],
  ],
  [
    ['packages/docs/src/**'],
    [
      {
        group: ['**', '!./**', '!minisearch'],
        message: 'Documentation pages load this file: it may import only its own folder and minisearch.',
      },
    ],
  ],
  [['packages/console/src/**'], [onlyTheClient]],
  [
    ['packages/console/src/{parts,reading}/**'],
    [
      onlyTheClient,
      {
        group: ['**/pages/**', '**/frame/**'],
        message: 'Parts and readings are shared by every page and must not import one.',
      },
    ],
  ],
  [
    ['packages/client/src/**'],
    [
      {
        group: ['@firsthand/**', '!@firsthand/contract/**', 'node:*'],
        message: 'The client depends on the service by its contract only, and runs on Node, Deno and Bun alike.',
      },
      { group: ['../**'], message: 'Import other packages by their published names: @firsthand/contract/…' },
    ],
  ],
  [['packages/import-formats/src/*.ts'], [selfContainedFormats('./**')]],
  [['packages/import-formats/src/*/**'], [selfContainedFormats('./**', '../*/**')]],
  [
    shared,
    [
      {
        group: [
          '**',
          '!./*',
          '!../shared/*',
          '!@firsthand/contract/errors',
          '!pino',
          '!node:*',
          '!node:timers/promises',
          '!vitest',
        ],
        message: 'Every folder uses this file, so it must not import any of them: pass what it needs as arguments.',
      },
    ],
  ],
  [
    ['packages/server/src/serving/**', 'packages/server/src/config/**'],
    [
      ...inServer,
      noDriver,
      { group: ['**/commands/**', '**/main.ts'], message: 'Arrows point inwards: main → commands → serve → app.' },
    ],
  ],
  [
    ['packages/server/src/main.ts'],
    [
      ...inServer,
      noDriver,
      {
        group: ['**/http/**', '**/ingest/**', '**/store/*.ts'],
        message: 'main only lists the commands: implement each one in its file in commands/.',
      },
    ],
  ],
  [
    ['packages/server/src/commands/**'],
    [
      noPages,
      publishedNames,
      noDriver,
      { group: ['**/main.ts'], message: 'Arrows point inwards: main → commands → serve → app.' },
    ],
  ],
  [
    ['packages/server/src/demo/**'],
    [
      ...inServer,
      noDriver,
      {
        group: [...startup, '**/store/open.ts'],
        message: 'Arrows point inwards: serve passes the demo what it needs, including its store.',
      },
    ],
  ],
  [
    ['packages/server/src/sample-shop/**'],
    [
      ...inServer,
      noDriver,
      {
        group: [...startup, '**/demo/**', '**/store/open.ts'],
        message: 'Arrows point inwards: the sample shop takes the store that it fills as an argument.',
      },
    ],
  ],
  [
    ['packages/server/src/http/**'],
    [
      ...inServer,
      noDriver,
      {
        group: [...startup, '**/demo/**', '**/sample-shop/**', '**/store/open.ts'],
        message:
          'Arrows point inwards: main → commands → serve → app → http. Take the configuration and the store as arguments.',
      },
    ],
  ],
  [
    ['packages/server/src/ingest/**'],
    [
      ...inServer,
      noDriver,
      {
        group: outside.filter((path) => path !== '**/ingest/**'),
        message: 'Ingestion takes checked input and passes it to a store; it must not depend on the transport (HTTP).',
      },
      { group: ['**/store/open.ts'], message: 'The caller chooses the store: take it as an argument.' },
    ],
  ],
  [
    [
      'packages/server/src/store/**',
      '!packages/server/src/store/open.ts',
      '!packages/server/src/store/sqlite/**',
      '!packages/server/src/store/postgres/**',
    ],
    [
      ...inStore,
      {
        group: noDriver.group,
        message:
          'Code that all drivers share must not import a driver: only store/open.ts may, and it loads the configured one.',
      },
    ],
  ],
  [
    ['packages/server/src/store/open.ts'],
    [
      ...inStore,
      {
        group: ['better-sqlite3', 'pg'],
        message: "Only a driver may import its database's library: load the driver dynamically.",
      },
    ],
  ],
  [
    ['packages/server/src/store/sqlite/**', `!${eventLog}`],
    [...inSQLite, onlyItsInterface],
  ],
  [
    [eventLog],
    [
      ...inSQLite,
      {
        group: ['../**', ...not(['../../rules/**', '../tuning.ts', '../database/**', '../transactions/**'])],
        message: 'The event log is below the other folders of the driver: they may import it, but not the reverse.',
      },
    ],
  ],
  [['packages/server/src/store/postgres/*.ts'], inPostgres],
  ...postgresRooms.map(
    (room) => [[`packages/server/src/store/postgres/${room}/**`], [...inPostgres, onlyEarlierRooms(room)]] as const,
  ),
  [
    ['packages/server/src/reports/**'],
    [
      ...inServer,
      noDriver,
      {
        group: [...outside, '**/identity/**', '**/store/**', '!**/store/report-feed.ts'],
        message: 'Reports read a store through store/report-feed.ts and take plain data as requests: queries.ts.',
      },
    ],
  ],
  [
    ['packages/server/src/identity/**'],
    [
      {
        // `node:url` converts international domain names.
        group: ['**', '!./**', '!node:url'],
        message: 'Pure functions decide who owns what: no clock, no database, no promises. Pass values as arguments.',
      },
    ],
  ],
];

/** The `overrides` of `.biome.json`. Tests may import anything. */
export const overrides = arrows.map(([files, rules]) => ({
  includes: [...files, '!**/*.test.ts'],
  linter: { rules: { style: { noRestrictedImports: { level: 'error', options: { patterns: rules } } } } },
}));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = fileURLToPath(new URL('../.biome.json', import.meta.url));
  const settings = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, JSON.stringify({ ...settings, overrides }, null, 2));
  execFileSync('npx', ['biome', 'format', '--write', path], { stdio: 'inherit' });
}
