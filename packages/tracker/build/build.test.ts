import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { buildDist, dist } from './build.ts';
import { areValidNames, numberVariables } from './bundle.ts';
import { findConflicts } from './conflicts.ts';

const read = (file: string) => readFile(join(dist, file));

beforeAll(async () => {
  await buildDist();
});

test.for(['tracker.js', 'tracker.full.js', 'tracker.domains.js'])(
  'writes %s with its compressed forms, a fingerprinted name and a hash',
  async (file) => {
    const script = await read(file);
    const { src, integrity } = JSON.parse((await read('integrity.json')).toString())[file];
    expect(src).toMatch(/^tracker(\.full|\.domains)?\.[\da-f]{16}\.js$/);
    expect(integrity).toBe(`sha384-${createHash('sha384').update(script).digest('base64')}`);
    for (const name of [file, src]) {
      expect(await read(name)).toEqual(script);
      expect(brotliDecompressSync(await read(`${name}.br`))).toEqual(script);
      expect(gunzipSync(await read(`${name}.gz`))).toEqual(script);
    }
  },
);

test.for(['tracker.js', 'tracker.full.js', 'tracker.domains.js'])(
  'builds %s as a single function in ES2018',
  async (file) => {
    const script = (await read(file)).toString();
    expect(script).toMatch(/^\(\(\)=>\{.*\}\)\(\)$/s);
    expect(script).not.toMatch(/\?\?|\?\.[a-z([]|catch\s*\{|\|\|=|&&=|#\w+[=(;]|\d_\d/);
  },
);

test('writes the notices of the bundled packages to licenses.txt', async () => {
  const licenses = (await read('licenses.txt')).toString();
  for (const name of ['js-cookie', 'nanoid'])
    expect(licenses).toMatch(new RegExp(`^${name}\\n\\n[^\\0]*?Copyright[^\\0]*?WITHOUT WARRANTY OF ANY KIND`, 'm'));
});

test('accesses document properties only through the prototype, including those that js-cookie uses', async () => {
  // Expects `document` twice, as the receiver of a getter and of a setter of the prototype.
  for (const file of ['tracker.js', 'tracker.full.js', 'tracker.domains.js'])
    expect((await read(file)).toString().match(/\bdocument\b.?/g)).toEqual(['document)', 'document)']);
});

test.for([
  ['abcc', true, 'two functions share a letter'],
  ['aacd', false, 'a scope declares a letter twice'],
  ['abad', false, 'an inner variable shadows an outer variable that is used there'],
  ['fbcd', false, 'a variable shadows a global that is used there'],
  ['abc', false, 'a variable has no letter'],
] as const)('validates the variable names %s (valid: %s): %s', async ([names, isValid]) => {
  const numbered = await numberVariables('(()=>{let a=1,b=2;f(c=>a+b+c,d=>d)})()');
  expect(numbered).toBe('(()=>{let $0$=1,$1$=2;f($2$=>$0$+$1$+$2$,$3$=>$3$)})()');
  expect(await areValidNames(numbered, names)).toBe(isValid);
});

test.for([
  [
    'let a=1,b=2;f(c=>a+b+c,d=>d)',
    [[1, 2], [0, 2], [0, 1], []],
    'a function may shadow a variable that it does not use',
  ],
  ['let a=1;try{f(a)}catch(b){f(a,b)}', [[1], [0]], 'a catch parameter must not shadow a variable that the block uses'],
  ['{let a=1;var b=a}', [[1], [0]], 'a `var` is declared in every block around it'],
  ['{let a=1;f(a)}{let b=1;f(b)}', [[], []], 'variables of sibling blocks do not conflict'],
  [
    'function a(b){for(let[c,{d}]of b)f(c,d)}f(a)',
    [[], [2, 3], [1, 3], [1, 2]],
    'a loop variable must not shadow the value that the loop iterates over',
  ],
] as const)('finds in %s the conflicts %j: %s', async ([body, conflicts]) => {
  expect(findConflicts(await numberVariables(`(()=>{${body}})()`))).toEqual(conflicts);
});
