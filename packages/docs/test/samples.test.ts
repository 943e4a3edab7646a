/** Runs the curl examples of the reference in a shell. `npm run check` compiles the client examples. */
import { execFileSync } from 'node:child_process';
import { operationNames } from '@firsthand/contract/operations';
import { describe, expect, it } from 'vitest';
import { operationDocs } from '../build/reference/document.ts';
import { requestTabs } from '../build/reference/operation-page.ts';
import { curlSample, toLiteral } from '../build/reference/samples.ts';

const sampleOf = (label: string, operation: (typeof operationDocs)[number]) =>
  requestTabs(operation).find((tab) => tab.label === label)?.code ?? '';

describe('the curl example', () => {
  /** The arguments that a shell passes to curl. */
  const argumentsOf = (sample: string): string[] => {
    const script = `curl() { printf '%s\\0' "$@"; }\nSERVER_TOKEN=secret OPERATOR_TOKEN=secret\n${sample}`;
    return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
  };

  it('sends every operation’s example fields', () => {
    for (const operation of operationDocs) {
      const args = argumentsOf(sampleOf('curl', operation));
      expect(args.join(' '), operation.name).toContain(
        `{firsthand:root}${operation.paths[0]} -H Authorization: Bearer secret`,
      );
      if (operation.methods[0] === 'POST') expect(JSON.parse(args.at(-1) ?? '')).toEqual(operation.requestExample);
      else
        for (const name of Object.keys(operation.requestExample))
          expect(
            args.some((argument) => argument.startsWith(`${name}=`)),
            `${operation.name}: ${name}`,
          ).toBe(true);
    }
  });

  it('preserves quotes and shell syntax', () => {
    const fields = { text: `it's $HOME \`ls\` "x"`, list: ['a', 'b'], from: { a: 1 } };
    const request = { path: '/x', token: 'SERVER_TOKEN', fields, isStream: false };
    expect(JSON.parse(argumentsOf(curlSample({ ...request, method: 'POST' })).at(-1) ?? '')).toEqual(fields);
    expect(argumentsOf(curlSample({ ...request, method: 'GET' }))).toEqual(
      expect.arrayContaining([`text=it's $HOME \`ls\` "x"`, 'list=a,b', 'from={"a":1}']),
    );
  });
});

it('has tag examples for exactly the operations that pages call through the tag', () => {
  const withTag = operationDocs.filter((operation) => sampleOf('Tag', operation) !== '').map(({ name }) => name);
  expect(withTag).toEqual(operationNames.filter((name) => ['createContact', 'logEvent', 'logEvents'].includes(name)));
});

it.each([
  [null, 'null'],
  [true, 'true'],
  ["it's\n\\", "'it\\'s\\n\\\\'"],
  [{}, '{}'],
  [[], '[]'],
  [{ a: 1, 'b-c': ['x'] }, "{ a: 1, 'b-c': ['x'] }"],
])('writes %j as %s', (value, literal) => {
  expect(toLiteral(value)).toBe(literal);
});

it('breaks long literals into several lines', () => {
  const value = { first: 'a'.repeat(40), second: ['b'.repeat(40), { c: 1 }] };
  const literal = toLiteral(value);
  expect(literal.split('\n').every((line) => line.length < 80)).toBe(true);
  expect(new Function(`return ${literal}`)()).toEqual(value);
});
