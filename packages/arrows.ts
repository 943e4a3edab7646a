/**
 * Which files must not import what: the table from which the `overrides` of `.biome.json` are made. After a change run
 * `npm run arrows`. Biome applies only the last override that names a file, so each entry lists all rules of its files.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface Rule {
  /** Import paths, as in `.gitignore`: a later one with `!` takes some out again. */
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
  message: 'Only a command talks to a server from outside.',
};
const publishedNames: Rule = {
  group: ['**/contract/src/**'],
  message: 'The contract goes by its published names: @firsthand/contract/…',
};
const noDriver: Rule = {
  group: ['**/sqlite/**', '**/postgres/**', 'better-sqlite3', 'pg'],
  message: 'Which database it is, only a driver knows: use the Store interface, and store/open.ts to open one.',
};

/** What starts and wires a server. */
const startup = ['**/main.ts', '**/commands/**', '**/serving/**', '**/config/**', '**/app.ts'];
const outside = [
  ...[...startup, '**/http/**', '**/ingest/**', '**/demo/**', '**/sample-shop/**'],
  ...['hono', 'hono/**', '@hono/**'],
];
const noRequests: Rule = {
  group: outside,
  message:
    'A store knows nothing of HTTP, nor of how requests become events: take what it needs as arguments of the Store interface.',
};

const inServer = [noPages, noClient, publishedNames];
const inStore = [...inServer, noRequests];
const anotherDriver = (group: readonly string[]): Rule => ({
  group,
  message: "Drivers don't know of each other: what both need is part of store/.",
});

/** Files that every room of the server uses. */
const shared = ['packages/server/src/shared/**', 'packages/server/src/logging/**'];
const inPages: readonly Rule[] = [
  {
    group: ['@firsthand/**', '!@firsthand/contract/limits', '!@firsthand/contract/identifiers', 'zod'],
    message:
      'The tracker takes types and constants only: one value import of a schema would make it 77 kB. Use @firsthand/contract/limits or /identifiers.',
  },
  { group: ['node:*'], message: 'The tracker runs in a page.' },
];
const anotherPackage = (group: string): Rule => ({
  group: [group],
  message: 'Another package goes by its published names: @firsthand/contract/limits or /identifiers.',
});

const asAnyProgram: Rule = {
  group: ['@firsthand/**', '!@firsthand/client', '**/server/**', '**/client/**', '**/contract/**', 'zod', 'node:*'],
  message: 'The console knows the service by the client only, as any other program does, and runs in a page.',
};

const not = (paths: readonly string[]): string[] => paths.map((path) => `!${path}`);

const onlyTheContract = (...itsFiles: string[]): Rule => ({
  group: ['**', ...not(itsFiles), '!zod'],
  message:
    'The contract is what everyone else depends on, in the browser too: it imports no other package and does no I/O.',
});

/** Files of the contract that the tracker carries. */
const carried = ['limits', 'identifiers'].map((name) => `packages/contract/src/${name}.ts`);
const inSQLite = [...inStore, anotherDriver(['**/postgres/**', 'pg', '**/open.ts'])];
const eventLog = 'packages/server/src/store/sqlite/event-log/**';
const oneDoor: Rule = {
  group: ['**/event-log/**', '!**/event-log/event-log.ts'],
  message: 'The log of events has one interface: event-log/event-log.ts.',
};

const inPostgres = [...inStore, anotherDriver(['**/sqlite/**', 'better-sqlite3', '**/open.ts'])];
/** Each knows those before it. */
const postgresRooms = [
  ...['database', 'days', 'transactions', 'accounts', 'contacts', 'events', 'erasure'],
  ...['feed', 'copy', 'doctor'],
];
const roomsBelow = (room: string): Rule => ({
  group: [...postgresRooms.slice(postgresRooms.indexOf(room) + 1), 'store.ts'].map((later) =>
    later.endsWith('.ts') ? `../${later}` : `../${later}/**`,
  ),
  message: `The rooms of the driver know each other in one direction: ${postgresRooms.join(', ')}.`,
});

const arrows: readonly (readonly [files: readonly string[], rules: readonly Rule[]])[] = [
  [['packages/contract/src/*.ts', ...not(carried)], [onlyTheContract('./**')]],
  [['packages/contract/src/*/**'], [onlyTheContract('./**', '../*.ts')]],
  [
    carried,
    [
      {
        group: ['**'],
        message:
          'The tracker carries this file into every page: it imports nothing. What needs another file belongs beside it.',
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
        message: 'The documentation is made from texts and the contract; the server fills in what it knows.',
      },
      publishedNames,
    ],
  ],
  [
    ['packages/docs/src/**'],
    [
      {
        group: ['**', '!./**', '!minisearch'],
        message: 'The pages of the documentation load this: it imports what is beside it, and minisearch.',
      },
    ],
  ],
  [['packages/console/src/**'], [asAnyProgram]],
  [
    ['packages/console/src/{parts,reading}/**'],
    [
      asAnyProgram,
      {
        group: ['**/pages/**', '**/frame/**'],
        message: 'Parts and readings are for every page, and know none of them.',
      },
    ],
  ],
  [
    ['packages/client/src/**'],
    [
      {
        group: ['@firsthand/**', '!@firsthand/contract/**', 'node:*'],
        message: 'The client knows the service by its contract only, and runs on Node, Deno and Bun alike.',
      },
      { group: ['../**'], message: 'Another package goes by its published names: @firsthand/contract/…' },
    ],
  ],
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
        message: 'Every room uses this file, so it knows none of them: hand in what it needs.',
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
        message: 'main only says which commands there are: what one does stands in its file in commands/.',
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
        message: 'Arrows point inwards: the demo is handed what it needs, its store too, by serve.',
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
        message: 'Arrows point inwards: the sample shop is handed the store that it fills.',
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
          'Arrows point inwards: main → commands → serve → app → http. What is configured, and the store, come in as arguments.',
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
        message: 'Ingestion takes checked input and hands it to a store; how it came (HTTP) is decided outside.',
      },
      { group: ['**/store/open.ts'], message: 'Which store it is, is decided outside: take it as an argument.' },
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
          'What all drivers share knows none of them: only store/open.ts does, and it loads the one that is asked for.',
      },
    ],
  ],
  [
    ['packages/server/src/store/open.ts'],
    [
      ...inStore,
      {
        group: ['better-sqlite3', 'pg'],
        message: "A database's library is its driver's business: load the driver, dynamically.",
      },
    ],
  ],
  [
    ['packages/server/src/store/sqlite/**', `!${eventLog}`],
    [...inSQLite, oneDoor],
  ],
  [
    [eventLog],
    [
      ...inSQLite,
      {
        group: ['../**', ...not(['../../rules/**', '../arrangement.ts', '../database/**', '../transactions/**'])],
        message: 'The log of events is below the other rooms of the driver: they know it, and it knows none of them.',
      },
    ],
  ],
  [['packages/server/src/store/postgres/*.ts'], inPostgres],
  ...postgresRooms.map(
    (room) => [[`packages/server/src/store/postgres/${room}/**`], [...inPostgres, roomsBelow(room)]] as const,
  ),
  [
    ['packages/server/src/reports/**'],
    [
      ...inServer,
      noDriver,
      {
        group: [...outside, '**/identity/**', '**/store/**', '!**/store/report-feed.ts'],
        message: 'Reports read a store through store/report-feed.ts, and are asked with plain data: questions.ts.',
      },
    ],
  ],
  [
    ['packages/server/src/identity/**'],
    [
      {
        // `node:url` maps the names of domains.
        group: ['**', '!./**', '!node:url'],
        message:
          'Who owns what is decided by pure functions: no clock, no database, no promises. Hand it in as an argument.',
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
