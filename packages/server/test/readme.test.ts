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
import { addTests, listClaims, listExceptions, listMissing } from './fixtures/documents/readme-claims.ts';
import { toProofKey } from './fixtures/proof.ts';
import { createFakeReports } from './fixtures/reports/fake-reports.ts';

const root = new URL('../../../', import.meta.url);
const manual = 'packages/docs/manual/';
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const front = addTests(read('README.md'), read('.readme-tests.md'));
/** The manual's pages, then the README, whose last section makes no claims. */
const texts = [
  ...readdirSync(new URL(manual, root)).map((name) => ({ path: manual + name, text: read(manual + name) })),
  { path: 'README.md', text: front.text },
];
const readme = texts.map(({ text }) => text).join('\n');
const operatorToken = 'operator_of_the_readme_00000000';

/** All shell blocks that send requests, in order. */
const script = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)]
  .map(([, block]) => block as string)
  .filter((block) => block.includes('curl'))
  .join('\n');

let folder: string;
let serving: Serving;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-readme-'));
  const env = { DATABASE_URL: `sqlite:${join(folder, 'firsthand.db')}`, PORT: '0', LOG_LEVEL: 'error' };
  const mail = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'reports@shop.example' };
  Object.assign(env, mail, { CONSOLE_ORIGIN: 'https://console.shop.example' });
  const reports = createFakeReports();
  serving = await serve(readConfig({ ...env, OPERATOR_TOKEN: operatorToken }), { demo: true, reports });
});
afterAll(async () => {
  await serving.close();
  rmSync(folder, { recursive: true });
});

/** Returns the cells of the table whose header begins with `head`, row by row. */
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

describe('the documentation', () => {
  test('lists a test for each of its claims', () => {
    expect(listClaims(readme).length).toBeGreaterThan(60);
    expect(listClaims(readme).filter(({ isTested }) => !isTested)).toEqual([]);
    expect(listExceptions(readme)).toEqual([]);
  });

  test('begins with what Firsthand is, and has a file that lists the tests of its claims', () => {
    expect(read('README.md').split('\n').slice(0, 5).join(' ')).toMatch(/It is for .* instead of .* Google Analytics/);
    expect(read('README.md')).not.toContain('<!--');
    expect(front.unknown).toEqual([]);
  });

  test('lists only tests that exist', () => {
    expect(listMissing(readme)).toEqual([]);
  });

  test('links to files that exist', () => {
    const links = texts.flatMap(({ path, text }) =>
      [...text.matchAll(/\]\((?!https?:|#)([^)#]+)|(?:src|srcset)="(packages[^"]+)"/g)].map(([, link, image]) =>
        posix.join(posix.dirname(path), (link ?? image) as string),
      ),
    );
    expect(links.length).toBeGreaterThan(10);
    expect(links.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
  });

  test('has the figures from the last full runs', () => {
    const readPage = (page: string) => read(`packages/server/${page}`);
    const [, kills, events] =
      /\n\| process killed \|[^|]+\| (\d+) × kill -9, (\d+) events [^|]+\| 0 lost, 0 twice/.exec(
        readPage('FAULTS.md'),
      ) ?? [];
    const millions = (Number(events) / 1e6).toFixed(1);
    expect(readme).toContain(`In ${Number(kills).toLocaleString('en')} kills of the process`);
    expect(readme).toContain(`none of ${millions} million events`);
    const [, ofTen, ofMillions] =
      /linking a user with 2,000,000 events vs. one with 10: median ms *\| *([\d.]+) *\| *([\d.]+)/.exec(
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
  ])('fails the check if a claim has no test: %s', (_, markdown) => {
    expect(listClaims(markdown).filter(({ isTested }) => !isTested)).toHaveLength(1);
  });

  test.each([
    ['a file', 'server/test/nothing.test.ts'],
    ['a file that is not a test', 'server/test/fixtures/documents/readme-claims.ts'],
    ['a title', 'server/test/arrows.test.ts: forbids %s to import | is not a title\n  of a test'],
  ])('fails the check if it refers to something that does not exist: %s', (_, named) => {
    expect(listMissing(`Kept. <!-- test: server/test/readme.test.ts; ${named} -->`)).toHaveLength(1);
  });

  test('lists the operations that each kind of token is allowed to call', () => {
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

  test('lists every error code with its status', () => {
    const listedCodes = tableOf('status').flatMap(([statuses = '', codes = '']) =>
      [...codes.matchAll(/`(\w+)`/g)].map(([, code]) => [code as string, statuses] as const),
    );
    expect(listedCodes.map(([code]) => code).sort()).toEqual(Object.keys(errors).sort());
    for (const [code, statuses] of listedCodes)
      expect(statuses).toContain(String(errors[code as keyof typeof errors].status));
  });

  test('states the actual limits', () => {
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

  test('lists the existing commands', () => {
    const [, block = ''] = /```\n(firsthand [\s\S]*?)```/.exec(readme) ?? [];
    const entries = [...block.matchAll(/firsthand ([\w-]+)(?: ([\w|]+))?/g)];
    expect(entries).toHaveLength(17);
    for (const [, noun, verbs] of entries) {
      const source = readFileSync(new URL(`../src/commands/${noun}.ts`, import.meta.url), 'utf8');
      for (const verb of verbs?.split('|') ?? []) expect(source).toMatch(new RegExp(`command\\('${verb}\\b`));
      expect([noun, source.includes('printJSON')]).toEqual([noun, noun !== 'copy' && noun !== 'migrate']);
    }
  });

  test.each(operationNames)('lists every field of %s', (name) => {
    const { input }: Operation = operations[name];
    const fields = Object.keys((input as z.ZodObject).shape);
    expect(fields.filter((field) => !new RegExp(`\\b${field}\\b`).test(readme))).toEqual([]);
  });

  test('has a curl command for every operation', () => {
    expect(operationNames.filter((name) => !new RegExp(`curl .*/${name}\\b`).test(script))).toEqual([]);
  });

  test('shows only commands that return 200', async () => {
    const env = {
      ...process.env,
      URL: serving.url,
      BROWSER_TOKEN: serving.demo?.browserToken,
      SERVER_TOKEN: serving.demo?.serverToken,
      OPERATOR_TOKEN: operatorToken,
    };
    const responsesFile = join(folder, 'answers');
    // Fills in the values that a reader copies from earlier responses.
    const filledIn = script.replaceAll(
      /^([A-Z]+)=… {2}# the (\w+) in the response$/gm,
      (_, variable, field) =>
        `${variable}=$(sed -n 's/.*"${field}":"\\([^"]*\\)".*/\\1/p' ${responsesFile} | tail -n 1)`,
    );
    const recording = `curl() { { command curl "$@"; echo; } >> ${responsesFile}; }\n${filledIn}`;
    await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', recording], { env });
    const responses = readFileSync(responsesFile, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('{'));
    expect(responses.filter((line) => !line.includes('"status":"200"'))).toEqual([]);
    expect(responses.filter((line) => line.includes('"ignored"'))).toEqual([]);
    const requestCount = script.match(/curl -s/g)?.length ?? 0;
    // Expects one response fewer, because the stream returns no JSON object.
    expect(responses).toHaveLength(requestCount - 1);
  });

  test.each([' Ada@Shop.example ', 'jose\u0301@shop.example', 'J\u030C@shop.example'])(
    'shows a contactProof function whose proof is accepted for %j',
    async (address) => {
      const [, source = ''] = /```js\n(import .*?const contactProof = .*?)```/s.exec(readme) ?? [];
      const module = `data:text/javascript,${encodeURIComponent(`${source}export default contactProof;`)}`;
      const { default: contactProof } = await import(/* @vite-ignore */ module);
      const visitor = { browserToken: 'browser_of_a_page', userUUID: 'visitor-of-the-readme' };
      const proof = contactProof('server_secret', { ...visitor, address });
      const canonical = parseAddress(address) ?? '';
      expect(isProof(proof, { ...visitor, address: canonical }, [toProofKey('server_secret')], Date.now())).toBe(true);
    },
  );
});
