/** Compares the guide with the warnings that the tracker's source writes to the browser's console. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const tracker = new URL('../../tracker/src/', import.meta.url);
const guide = readFileSync(new URL('../troubleshooting.md', import.meta.url), 'utf8');

it('finds every tracker warning in the troubleshooting guide', () => {
  const reasons = readdirSync(tracker, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => readFileSync(new URL(name, tracker), 'utf8'))
    .flatMap((source) => [...source.matchAll(/\b(?:warn\(|demand\(.*, )['`](?:\$\{name\} )?([a-z][\w -]*)/g)])
    .map(([, reason]) => reason as string);
  expect(reasons).toEqual(expect.arrayContaining(['no data-token', 'is taken', 'ignored', 'ignore_firsthand']));
  const [, section = ''] = /^## In the browser$([\s\S]*?)^## /m.exec(guide) ?? [];
  const rows = [...section.matchAll(/^\| (.*?) \|/gm)].map(([, first]) => first).join('\n');
  expect(reasons.filter((reason) => !rows.includes(reason))).toEqual([]);
});
