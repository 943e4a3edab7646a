/** Limits for the compressed size of the console's scripts. */
import { readdirSync, readFileSync } from 'node:fs';

const folder = 'dist/assets/';

/** The scripts loaded before the overview is shown: the entry script and its static imports. */
const beforeFirstView = new Set(readdirSync(folder).filter((name) => /^main\.[^.]+\.js$/.test(name)));
for (const name of beforeFirstView)
  for (const [, imported] of readFileSync(folder + name, 'utf8').matchAll(/\b(?:from|import)\s*"\.\/([^"]+)"/g))
    beforeFirstView.add(imported);

if (![...beforeFirstView].some((name) => name.startsWith('chunk.')))
  throw new Error(
    'no script imports a shared chunk: the import syntax has changed and the pattern above no longer matches it',
  );

export default [
  {
    name: 'before the first view',
    path: [...beforeFirstView].map((name) => folder + name),
    limit: '35 kB',
    brotli: true,
  },
  {
    name: 'all scripts, except for the import of files, webhooks, mails and the list of notes',
    path: [`${folder}*.js`, ...['import-', 'webhooks.', 'mails.', 'note-list.'].map((name) => `!${folder}${name}*.js`)],
    limit: '78 kB',
    brotli: true,
  },
  {
    // Reads the files of six tools, and has the screens of events, contacts and earlier imports.
    name: 'the import of files, loaded when it is opened',
    path: `${folder}import-*.js`,
    limit: '17 kB',
    brotli: true,
  },
  {
    name: 'webhooks, loaded when they are opened',
    path: `${folder}webhooks.*.js`,
    limit: '6 kB',
    brotli: true,
  },
  {
    name: 'the list of notes, loaded when it is opened',
    path: `${folder}note-list.*.js`,
    limit: '1.5 kB',
    brotli: true,
  },
  {
    name: 'digests and alerts, loaded when they are opened',
    path: `${folder}mails.*.js`,
    limit: '5 kB',
    brotli: true,
  },
];
