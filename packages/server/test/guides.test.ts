/**
 * Follows the guides in packages/docs: runs each code block in order, and compares its output with the block below. A
 * guide can instead name a separate test that follows it.
 */
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { inlineScriptSource, scriptTag } from '../src/http/script-tag.ts';
import { blocksOf, guideFiles, guides, runBlock, testOf } from './fixtures/documents/guides.ts';
import { createAccount, serveHere } from './fixtures/serving.ts';

describe('the guides', () => {
  test('are all listed in the index', () => {
    expect(guides.toSorted()).toEqual(guideFiles.toSorted());
  });

  test.each(guides.flatMap((guide) => testOf(guide) ?? []))('name an existing test: %s', (path) => {
    expect(existsSync(new URL(`../../${path}`, import.meta.url))).toBe(true);
  });

  test('show the inline script of the script tag, and its hash in csp.md', () => {
    const [inline = ''] = scriptTag('https://shop.example/s', 'browser_…', { trackerPath: '/main.js' }).split('\n');
    // Matches the line before the line that loads the script.
    const line = /^ *(<script[^>]*>.*)\n *<script[^>]* async src=/gm;
    const inlineScripts = guides.flatMap((guide) =>
      blocksOf(guide).flatMap(({ code }) => [...code.matchAll(line)].map(([, text = '']) => [guide, text])),
    );
    expect(inlineScripts.length).toBeGreaterThan(3);
    for (const [guide, text] of inlineScripts)
      expect([guide, text?.replace(' nonce="NONCE"', '')]).toEqual([guide, inline]);
    expect(blocksOf('csp.md')[0]?.code).toContain(inlineScriptSource(inline));
  });

  test('produce the output that they show, block by block', async () => {
    const { url } = await serveHere();
    const { browserTokenUUID, serverTokenUUID } = await createAccount(url);
    const env = { FIRSTHAND_URL: url, BROWSER_TOKEN: browserTokenUUID, SERVER_TOKEN: serverTokenUUID };
    for (const guide of guides.filter((name) => testOf(name) === undefined)) {
      const blocks = blocksOf(guide);
      for (const [nth, block] of blocks.entries()) {
        // Skips PHP code, which deploy/php.test.ts tests in another tier.
        if (['text', 'php'].includes(block.language)) continue;
        const expected = blocks[nth + 1];
        expect(expected?.language, `output of block ${nth + 1} of ${guide}`).toBe('text');
        expect(await runBlock(block, env), `block ${nth + 1} of ${guide}`).toBe(expected?.code.trim());
      }
    }
  });

  test('print why a contact or a whole request is rejected, in backend.md', async () => {
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
