import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { operationNames } from '@firsthand/contract/operations';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../src/config.ts';
import { parseAddress } from '../src/identity/address.ts';
import { isProof } from '../src/ingest/proof.ts';
import { type Serving, serve } from '../src/serve.ts';
import { keyOf } from './fixtures/proof.ts';

const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
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
  serving = await serve(readConfig({ ...env, OPERATOR_TOKEN: operatorToken }), { demo: true });
});
afterAll(async () => {
  await serving.close();
  rmSync(folder, { recursive: true });
});

describe('the README', () => {
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
