import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';
import { tokenKinds } from '@firsthand/contract/account/tokens';
import { errors } from '@firsthand/contract/errors';
import { limits } from '@firsthand/contract/limits';
import { type Operation, operationNames, operations } from '@firsthand/contract/operations';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type * as z from 'zod';
import { readConfig, settings } from '../src/config/config.ts';
import { parseAddress } from '../src/identity/email-address.ts';
import { isProof } from '../src/ingest/proof.ts';
import { type Serving, serve } from '../src/serving/serve.ts';
import { claimsIn, exceptionsIn, missingIn, withTests } from './fixtures/documents/readme-claims.ts';
import { keyOf } from './fixtures/proof.ts';
import { createFakeReports } from './fixtures/reports/fake-reports.ts';

const root = new URL('../../../', import.meta.url);
const manual = 'packages/docs/manual/';
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const front = withTests(read('README.md'), read('.readme-tests.md'));
/** The pages of the manual, and the README, which ends with what is no claim. */
const texts = [
  ...readdirSync(new URL(manual, root)).map((name) => ({ path: manual + name, text: read(manual + name) })),
  { path: 'README.md', text: front.text },
];
/** All of them. */
const readme = texts.map(({ text }) => text).join('\n');
const operatorToken = 'operator_of_the_readme_00000000';

/** The shell blocks that talk to a server, in their order. */
const script = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)]
  .map(([, block]) => block as string)
  .filter((block) => block.includes('curl'))
  .join('\n');

let folder: string;
let serving: Serving;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-readme-'));
  const env = { DATABASE_URL: `sqlite:${join(folder, 'firsthand.db')}`, PORT: '0', LOG_LEVEL: 'error' };
  const reports = createFakeReports();
  serving = await serve(readConfig({ ...env, OPERATOR_TOKEN: operatorToken }), { demo: true, reports });
});
afterAll(async () => {
  await serving.close();
  rmSync(folder, { recursive: true });
});

/** The cells of the table whose head begins with that, row by row. */
const tableOf = (head: string): string[][] => {
  const lines = readme.slice(readme.indexOf(`\n| ${head}`) + 1).split('\n');
  const rows = lines.slice(
    0,
    lines.findIndex((line) => !line.startsWith('|')),
  );
  return rows.map((row) =>
    row
      .split('|')
      .slice(1)
      .map((cell) => cell.trim()),
  );
};

describe('the README and the manual', () => {
  test('names a test for each of its claims', () => {
    expect(claimsIn(readme).length).toBeGreaterThan(60);
    expect(claimsIn(readme).filter(({ isTested }) => !isTested)).toEqual([]);
    expect(exceptionsIn(readme)).toEqual([]);
  });

  test('begins with what Firsthand is and has the comments in a file beside it, each for one of its claims', () => {
    expect(read('README.md').split('\n').slice(0, 5).join(' ')).toMatch(/It is for .* instead of .* Google Analytics/);
    expect(read('README.md')).not.toContain('<!--');
    expect(front.unknown).toEqual([]);
  });

  test('names tests that there are', () => {
    expect(missingIn(readme)).toEqual([]);
  });

  test('links to files that there are', () => {
    const linked = texts.flatMap(({ path, text }) =>
      [...text.matchAll(/\]\((?!https?:|#)([^)#]+)|(?:src|srcset)="(packages[^"]+)"/g)].map(([, link, image]) =>
        posix.join(posix.dirname(path), (link ?? image) as string),
      ),
    );
    expect(linked.length).toBeGreaterThan(10);
    expect(linked.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
  });

  test('has the figures of the last full runs', () => {
    const readPage = (page: string) => read(`packages/server/${page}`);
    const [, kills, events] =
      /\n\| process killed \|[^|]+\| (\d+) × kill -9, (\d+) events [^|]+\| 0 lost, 0 twice/.exec(
        readPage('FAULTS.md'),
      ) ?? [];
    const millions = (Number(events) / 1e6).toFixed(1);
    expect(readme).toContain(`In ${Number(kills).toLocaleString('en')} kills of the process`);
    expect(readme).toContain(`none of ${millions} million events`);
    const [, ofTen, ofMillions] =
      /linking a user with 2,000,000 events, beside one with 10: median ms *\| *([\d.]+) *\| *([\d.]+)/.exec(
        readPage('bench/RESULTS.md'),
      ) ?? [];
    expect(readme).toContain('half a millisecond for a browser with ten events and for one with two million');
    expect([Math.round(Number(ofTen) * 10), Math.round(Number(ofMillions) * 10)]).toEqual([5, 5]);
  });

  test.each([
    ['a paragraph', 'Nothing is lost.\n\n## Next\n'],
    ['a list item', '- Nothing is lost.\n- Nothing doubles.\n  <!-- test: x.test.ts -->\n'],
    ['a table row', '| a |\n|---|\n| lost <!-- test: x.test.ts --> |\n| nothing |\n'],
    ['code with a comment', '```sh\ncurl # loses nothing\n\n```\n'],
  ])('would be found to claim without a test: %s', (_, markdown) => {
    expect(claimsIn(markdown).filter(({ isTested }) => !isTested)).toHaveLength(1);
  });

  test.each([
    ['a file', 'server/test/nothing.test.ts'],
    ['a file that is no test', 'server/test/fixtures/documents/readme-claims.ts'],
    ['a title', 'server/test/arrows.test.ts: may not import | is not a title\n  of a test'],
  ])('would be found to name what is not there: %s', (_, named) => {
    expect(missingIn(`Kept. <!-- test: server/test/readme.test.ts; ${named} -->`)).toHaveLength(1);
  });

  test('lets each kind of token do what its table says', () => {
    const [[, ...kinds] = [], , ...rows] = tableOf('| browser |') as [string[], string[], ...string[][]];
    expect(kinds.filter(Boolean).sort()).toEqual([...tokenKinds].sort());
    const rowOf = (name: string) =>
      rows.find(([label = '']) => label.split(', ').includes(name)) ??
      rows.find(([label]) => label === 'other contact operations') ??
      [];
    for (const name of operationNames) {
      const allowed = kinds.filter((kind, nth) => kind !== '' && rowOf(name)[nth + 1] !== '');
      expect([name, allowed.sort()]).toEqual([name, [...(operations[name] as Operation).tokens].sort()]);
    }
  });

  test('lists every setting with its flag and default', () => {
    const rows = tableOf('variable').map((cells) => cells.join(' '));
    for (const { variable, flag, ...rest } of Object.values(settings)) {
      const fallback = 'fallback' in rest ? rest.fallback : '';
      const row = rows.find((text) => text.includes(`\`${variable}\``)) ?? '';
      expect(row).toContain(`\`${flag.split(' ')[0]}\``);
      expect(row).toContain(fallback);
    }
  });

  test('lists every error code beside its status', () => {
    const listed = tableOf('status').flatMap(([statuses = '', codes = '']) =>
      [...codes.matchAll(/`(\w+)`/g)].map(([, code]) => [code as string, statuses] as const),
    );
    expect(listed.map(([code]) => code).sort()).toEqual(Object.keys(errors).sort());
    for (const [code, statuses] of listed)
      expect(statuses).toContain(String(errors[code as keyof typeof errors].status));
  });

  test('states the limits as they are', () => {
    const [, section = ''] = /\n## Limits\n\n([^<]*)/.exec(readme) ?? [];
    expect(section.match(/\d[\d,]*(?: [KM]iB)?/g)).toEqual([
      `${limits.bodyBytes / 1024} KiB`,
      `${limits.batchBodyBytes / 1024 ** 2} MiB`,
      ...[
        limits.eventsPerBatch,
        limits.attributesPerEvent,
        limits.attrValueLength,
        limits.attrIDLength,
        limits.nameLength,
        limits.emailLength,
        limits.tagsPerContact,
        limits.idsPerCatalogue,
      ].map((limit) => limit.toLocaleString('en')),
      `${limits.urlBytes / 1024} KiB`,
      limits.claimsPerContact.toLocaleString('en'),
      limits.claimedLinksPerContact.toLocaleString('en'),
      String(limits.claimedLinksPerUser),
    ]);
  });

  test('lists the commands that there are', () => {
    const [, block = ''] = /```\n(firsthand [\s\S]*?)```/.exec(readme) ?? [];
    const shown = [...block.matchAll(/firsthand ([\w-]+)(?: ([\w|]+))?/g)];
    expect(shown).toHaveLength(17);
    for (const [, noun, verbs] of shown) {
      const source = readFileSync(new URL(`../src/commands/${noun}.ts`, import.meta.url), 'utf8');
      for (const verb of verbs?.split('|') ?? []) expect(source).toMatch(new RegExp(`command\\('${verb}\\b`));
      expect([noun, source.includes('printJSON')]).toEqual([noun, noun !== 'copy' && noun !== 'migrate']);
    }
  });

  test.each(operationNames)('names every field of %s', (name) => {
    const { input }: Operation = operations[name];
    const fields = Object.keys((input as z.ZodObject).shape);
    expect(fields.filter((field) => !new RegExp(`\\b${field}\\b`).test(readme))).toEqual([]);
  });

  test('has a curl for every operation', () => {
    expect(operationNames.filter((name) => !new RegExp(`curl .*/${name}\\b`).test(script))).toEqual([]);
  });

  test('tells the truth: each of its commands is answered 200', async () => {
    const env = {
      ...process.env,
      URL: serving.url,
      BROWSER_TOKEN: serving.demo?.browserToken,
      SERVER_TOKEN: serving.demo?.serverToken,
      OPERATOR_TOKEN: operatorToken,
    };
    const answersFile = join(folder, 'answers');
    // Where the reader is asked to fill in what was answered, the test does.
    const filledIn = script.replaceAll(
      /^([A-Z]+)=… {2}# the (\w+) that it answered$/gm,
      (_, variable, field) => `${variable}=$(sed -n 's/.*"${field}":"\\([^"]*\\)".*/\\1/p' ${answersFile} | tail -n 1)`,
    );
    const recording = `curl() { { command curl "$@"; echo; } >> ${answersFile}; }\n${filledIn}`;
    await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', recording], { env });
    const answers = readFileSync(answersFile, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('{'));
    expect(answers.filter((line) => !line.includes('"status":"200"'))).toEqual([]);
    expect(answers.filter((line) => line.includes('"ignored"'))).toEqual([]);
    const shown = script.match(/curl -s/g)?.length ?? 0;
    // All but the stream, which holds no object of its own.
    expect(answers).toHaveLength(shown - 1);
  });

  test.each([' Ada@Shop.example ', 'jose\u0301@shop.example', 'J\u030C@shop.example'])(
    'has a contactProof that is taken for %j',
    async (address) => {
      const [, source = ''] = /```js\n(import .*?const contactProof = .*?)```/s.exec(readme) ?? [];
      const module = `data:text/javascript,${encodeURIComponent(`${source}export default contactProof;`)}`;
      const { default: contactProof } = await import(/* @vite-ignore */ module);
      const vouched = { browserToken: 'browser_of_a_page', userUUID: 'visitor-of-the-readme' };
      const proof = contactProof('server_secret', { ...vouched, address });
      const canonical = parseAddress(address) ?? '';
      expect(isProof(proof, { ...vouched, address: canonical }, [keyOf('server_secret')], Date.now())).toBe(true);
    },
  );
});
