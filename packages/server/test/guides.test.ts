/**
 * Follows the guides in packages/docs: runs every code block in order, and compares what it prints with the block below it. A guide may
 * name another test that follows it.
 */
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { inlineScriptSource, scriptTag } from '../src/http/script-tag.ts';
import { blocksOf, guideFiles, guides, runBlock, testOf } from './fixtures/documents/guides.ts';
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
    // The line above one that loads the script.
    const line = /^ *(<script[^>]*>.*)\n *<script[^>]* async src=/gm;
    const shown = guides.flatMap((guide) =>
      blocksOf(guide).flatMap(({ code }) => [...code.matchAll(line)].map(([, text = '']) => [guide, text])),
    );
    expect(shown.length).toBeGreaterThan(3);
    for (const [guide, text] of shown) expect([guide, text?.replace(' nonce="NONCE"', '')]).toEqual([guide, inline]);
    expect(blocksOf('csp.md')[0]?.code).toContain(inlineScriptSource(inline));
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

  test('backend.md prints why a contact or a whole request is refused', async () => {
    const { url } = await serveHere();
    const { serverTokenUUID } = await createAccount(url);
    for (const block of blocksOf('backend.md').filter(({ language }) => ['js', 'python'].includes(language))) {
      const refused = { ...block, code: block.code.replace(/\w+@shop\.example/, 'ann') };
      const env = { FIRSTHAND_URL: url, SERVER_TOKEN: serverTokenUUID };
      await expect(runBlock(refused, env)).rejects.toThrow(/invalid_field: `contact\[0\]\.contactEmailaddress`/);
      await expect(runBlock(block, { ...env, SERVER_TOKEN: 'server_wrong' })).rejects.toThrow(/invalid_token: /);
    }
  });
});
