/** The most that the console's scripts may weigh, compressed as they are sent. */
import { readdirSync, readFileSync } from 'node:fs';

const folder = 'dist/assets/';

/** What the browser loads before it shows the overview: the first script, and all that it imports at once. */
const beforeFirstView = new Set(readdirSync(folder).filter((name) => /^main\.[^.]+\.js$/.test(name)));
for (const name of beforeFirstView)
  for (const [, imported] of readFileSync(folder + name, 'utf8').matchAll(/\b(?:from|import)\s*"\.\/([^"]+)"/g))
    beforeFirstView.add(imported);

if (![...beforeFirstView].some((name) => name.startsWith('chunk.')))
  throw new Error('no script imports a shared one: what it imports is written otherwise than is looked for here');

export default [
  {
    name: 'before the first view',
    path: [...beforeFirstView].map((name) => folder + name),
    limit: '40 kB',
    brotli: true,
  },
  { name: 'all scripts', path: `${folder}*.js`, limit: '80 kB', brotli: true },
];
