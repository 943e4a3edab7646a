/** What each part of `/tracker.js` costs: its bytes as brotli, less those of a build in which the part does nothing. */
import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';
import { bundleScript, toBrotli } from './bundle.ts';

type Part = {
  readonly part: string;
  /** Which file, by the end of its path. */
  readonly file: string;
  /** What of the file is left out, and what stands there instead; without it, `instead` is the whole file. */
  readonly leftOut?: RegExp;
  readonly instead: string;
};

const nothing = '() => {}';

const parts: readonly Part[] = [
  {
    part: 'js-cookie',
    file: 'src/identity/cookie.ts',
    leftOut: /import Cookies.*\n/,
    instead: 'const Cookies = { set() {}, get() {} };',
  },
  { part: 'nanoid', file: 'nanoid/index.browser.js', instead: "export const nanoid = () => 'x';" },
  {
    part: 'elements named as properties of the document',
    file: 'src/document.ts',
    instead: 'export const safeDocument = document;',
  },
  {
    part: 'cookies on deeper paths',
    file: 'src/identity/cookie.ts',
    leftOut: /return path && !`; [^\n]*;/,
    instead: 'return true;',
  },
  {
    part: 'keys of others',
    file: 'src/delivery/queue.ts',
    leftOut: /Object\.keys\(ourKeys\)[\s\S]*?ourKeys\[key\]\)\)/,
    instead: 'Object.keys(stored).filter((key) => /^firsthand:/.test(key))',
  },
  {
    part: 'a time limit for requests',
    file: 'src/delivery/sender.ts',
    leftOut: /const controller[\s\S]*?;\n.*\n|signal: controller.signal,\n/,
    instead: 'const controller = {};\n',
  },
  { part: 'the time of early calls', file: 'src/page.ts', leftOut: /setPastTime\(.*\);\n/, instead: '\n' },
  { part: 'flush', file: 'src/tracker.ts', leftOut: /flush: async[\s\S]*?\n {4}\},\n/, instead: '' },
  {
    part: 'widest domain, twins healed',
    file: 'src/identity/cookie.ts',
    leftOut: /const labels[\s\S]*\n {2}\}\);/,
    instead: "const write = () => setOn([''], userCookieName, '/', userUUID ? 34560000 : 0);",
  },
  { part: 'placeholders refused', file: 'src/identity/identity.ts', leftOut: /\(\?!.*?\$\)/, instead: '' },
  {
    part: 'whose a queued record is (reset)',
    file: 'src/identity/identity.ts',
    leftOut: /const last[\s\S]*?slice\(1\)}`\)\);/,
    instead: '',
  },
  {
    part: 'consent, GPC, Do Not Track',
    file: 'src/identity/consent.ts',
    instead: 'export const isConsentRemembered = () => true;',
  },
  {
    part: 'forgetting everything',
    file: 'src/delivery/storage.ts',
    leftOut: /export const eraseStored[\s\S]*/,
    instead: `export const eraseStored = ${nothing};`,
  },
  {
    part: 'JSON by hand',
    file: 'src/records/json.ts',
    leftOut: /`"\$\{`[\s\S]*?`;\n/,
    instead: 'JSON.stringify(text);',
  },
  {
    part: 'attributes',
    file: 'src/records/attributes.ts',
    instead: 'export const toAttributesJSON = (...given) => JSON.stringify(given);',
  },
  {
    part: 'createContact: its record',
    file: 'src/records/contacts.ts',
    leftOut: /`\{\$\{Object\.keys[\s\S]*?`;\n/,
    instead: 'JSON.stringify(fields);\n',
  },
  {
    part: 'bounds of the queue',
    file: 'src/delivery/queue.ts',
    leftOut: /\.reverse\(\)\n\s*\.filter\(\(key, index\)[\s\S]*?\.reverse\(\);/,
    instead: '.filter((key) => key.endsWith(token));',
  },
  {
    part: 'count of what was dropped',
    file: 'src/delivery/queue.ts',
    leftOut: /writeStored\(droppedKey.*\n/,
    instead: '\n',
  },
  {
    part: 'memory when storage is full',
    file: 'src/delivery/storage.ts',
    leftOut: /stored = \{ \.\.\.stored.*\n/,
    instead: '\n',
  },
  { part: 'backoff', file: 'src/delivery/backoff.ts', instead: 'export const retryMilliseconds = () => 1e4;' },
  {
    part: 'locks',
    file: 'src/delivery/sender.ts',
    leftOut: /await \(\(leaving[\s\S]*?\n {6}\);/,
    instead: 'await sendNext();',
  },
  {
    part: 'verdicts on single records',
    file: 'src/delivery/sender.ts',
    leftOut: /again = keys\.filter\([\s\S]*?\n {6}\}\);/,
    instead: 'again = [];',
  },
  {
    part: 'a guard against loops',
    file: 'src/tracker.ts',
    leftOut: /evenTime = Math[\s\S]*?'too many'\);/,
    instead: '',
  },
  { part: 'beforeSend', file: 'src/tracker.ts', leftOut: /demand\(!\(tracker\.beforeSend.*\n/, instead: '\n' },
  {
    part: 'debug',
    file: 'src/note.ts',
    instead: `export const setDebug = ${nothing}; export const note = ${nothing};`,
  },
];

const leaveOut = ({ part, file, leftOut, instead }: Part): Plugin => ({
  name: `without ${part}`,
  setup: (build) => {
    build.onLoad({ filter: new RegExp(`/${file}$`) }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      if (leftOut && !leftOut.test(text)) throw new Error(`${part}: ${leftOut} is nowhere in ${file}`);
      return { contents: leftOut ? text.replace(leftOut, () => instead) : instead, loader: 'ts' };
    });
  },
});

const sizeWithout = async (part: Part): Promise<number> =>
  toBrotli(await bundleScript('browser', { plugins: [leaveOut(part)], names: '' })).length;

const whole = toBrotli(await bundleScript('browser', { names: '' })).length;
console.log(`${'/tracker.js'.padEnd(36)} ${whole}`);
for (const part of parts) console.log(`${part.part.padEnd(36)} ${whole - (await sizeWithout(part))}`);
