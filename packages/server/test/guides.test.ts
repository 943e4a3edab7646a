/** The guides in packages/docs: every code block is run, in order, and prints what the block below it says. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { createAccount, serveHere } from './fixtures/serving.ts';

const docs = new URL('../../docs/', import.meta.url);
const index = readFileSync(new URL('README.md', docs), 'utf8');
/** In the order of the index: a guide may use what an earlier one has stored. */
const guides = [...index.matchAll(/^\| \[[^\]]+\]\((\S+\.md)\)/gm)].map(([, name]) => name as string);

const runners: Readonly<Record<string, readonly [command: string, ...args: string[]]>> = {
  js: [process.execPath, '--input-type=module', '-e'],
  python: ['python3', '-c'],
  sh: ['sh', '-c'],
};

interface Block {
  readonly language: string;
  readonly code: string;
}

const blocksOf = (guide: string): Block[] =>
  [...readFileSync(new URL(guide, docs), 'utf8').matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(
    ([, language = '', code = '']) => ({ language, code }),
  );

/** What a block prints. Rejects when it fails. */
const run = async ({ language, code }: Block, env: Readonly<Record<string, string>>): Promise<string> => {
  const [command, ...args] = runners[language] as [string, ...string[]];
  const { stdout } = await promisify(execFile)(command, [...args, code], { env: { ...process.env, ...env } });
  return stdout.trim();
};

describe('the guides', () => {
  test('are all in the index', () => {
    const found = readdirSync(docs).filter((name) => name.endsWith('.md') && name !== 'README.md');
    expect(guides.toSorted()).toEqual(found.toSorted());
  });

  test('print what they say, block by block', async () => {
    const { url } = await serveHere();
    const { browserTokenUUID, serverTokenUUID } = await createAccount(url);
    const env = { FIRSTHAND_URL: url, BROWSER_TOKEN: browserTokenUUID, SERVER_TOKEN: serverTokenUUID };
    for (const guide of guides) {
      const blocks = blocksOf(guide);
      for (const [nth, block] of blocks.entries()) {
        if (block.language === 'text') continue;
        const expected = blocks[nth + 1];
        expect(expected?.language, `what block ${nth + 1} of ${guide} prints`).toBe('text');
        expect(await run(block, env), `block ${nth + 1} of ${guide}`).toBe(expected?.code.trim());
      }
    }
  });
});
