/**
 * Follows the guides in packages/docs: runs every code block in order, and compares what it prints with the block below it. A guide may
 * name another test that follows it.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { scriptTag } from '../src/script-tag.ts';
import { blocksOf, guideFiles, guides, runBlock, testOf } from './fixtures/guides.ts';
import { createAccount, serveHere } from './fixtures/serving.ts';

describe('the guides', () => {
  test('are all in the index', () => {
    expect(guides.toSorted()).toEqual(guideFiles.toSorted());
  });

  test.each(guides.flatMap((guide) => testOf(guide) ?? []))('%s, which follows a guide, exists', (path) => {
    expect(existsSync(new URL(`../../${path}`, import.meta.url))).toBe(true);
  });

  test('show the inline script as the tag has it, and csp.md its hash', () => {
    const [inline = ''] = scriptTag('https://shop.example/s', 'browser_…', { trackerPath: '/main.js' }).split('\n');
    const shown = guides.flatMap((guide) =>
      blocksOf(guide).flatMap(({ code }) =>
        (code.match(/<script[^>]*>self\.hasOwnProperty.*/g) ?? []).map((line) => [guide, line]),
      ),
    );
    expect(shown.length).toBeGreaterThan(0);
    for (const [guide, line] of shown) expect([guide, line?.replace(' nonce="NONCE"', '')]).toEqual([guide, inline]);
    const hash = createHash('sha256')
      .update(inline.replace(/^<script>|<\/script>$/g, ''))
      .digest('base64');
    expect(blocksOf('csp.md')[0]?.code).toContain(`'sha256-${hash}'`);
  });

  test('print what they say, block by block', async () => {
    const { url } = await serveHere();
    const { browserTokenUUID, serverTokenUUID } = await createAccount(url);
    const env = { FIRSTHAND_URL: url, BROWSER_TOKEN: browserTokenUUID, SERVER_TOKEN: serverTokenUUID };
    for (const guide of guides.filter((name) => testOf(name) === undefined)) {
      const blocks = blocksOf(guide);
      for (const [nth, block] of blocks.entries()) {
        // PHP is among the programs of another tier: deploy/php.test.ts runs it.
        if (['text', 'php'].includes(block.language)) continue;
        const expected = blocks[nth + 1];
        expect(expected?.language, `what block ${nth + 1} of ${guide} prints`).toBe('text');
        expect(await runBlock(block, env), `block ${nth + 1} of ${guide}`).toBe(expected?.code.trim());
      }
    }
  });
});
