/**
 * Follows the guides in packages/docs: runs every code block in order, and compares what it prints with the block below it. A guide may
 * name another test that follows it.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { type Block, blocksOf, guideFiles, guides, testOf } from './fixtures/guides.ts';
import { createAccount, serveHere } from './fixtures/serving.ts';

const runners: Readonly<Record<string, readonly [command: string, ...args: string[]]>> = {
  js: [process.execPath, '--input-type=module', '-e'],
  python: ['python3', '-c'],
  sh: ['sh', '-c'],
};

/** What a block prints. Rejects when it fails. */
const run = async ({ language, code }: Block, env: Readonly<Record<string, string>>): Promise<string> => {
  const [command, ...args] = runners[language] as [string, ...string[]];
  const { stdout } = await promisify(execFile)(command, [...args, code], { env: { ...process.env, ...env } });
  return stdout.trim();
};

describe('the guides', () => {
  test('are all in the index', () => {
    expect(guides.toSorted()).toEqual(guideFiles.toSorted());
  });

  test.each(guides.flatMap((guide) => testOf(guide) ?? []))('%s, which follows a guide, exists', (path) => {
    expect(existsSync(new URL(`../../${path}`, import.meta.url))).toBe(true);
  });

  test('print what they say, block by block', async () => {
    const { url } = await serveHere();
    const { browserTokenUUID, serverTokenUUID } = await createAccount(url);
    const env = { FIRSTHAND_URL: url, BROWSER_TOKEN: browserTokenUUID, SERVER_TOKEN: serverTokenUUID };
    for (const guide of guides.filter((name) => testOf(name) === undefined)) {
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
