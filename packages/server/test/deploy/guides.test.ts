/**
 * Follows the guides in packages/docs: runs each code block in order, and compares its output with the block below. A
 * guide can instead name a separate test that follows it.
 */
import { describe, expect, test } from 'vitest';
import { findGuideTest, guides, readBlocks, runBlock } from '../fixtures/documents/guides.ts';
import { createAccount, serveHere } from '../fixtures/serving.ts';

describe('the guides', () => {
  test('produce the output that they show, block by block', async () => {
    const { url } = await serveHere();
    const { browserTokenUUID, serverTokenUUID } = await createAccount(url);
    const env = { FIRSTHAND_URL: url, BROWSER_TOKEN: browserTokenUUID, SERVER_TOKEN: serverTokenUUID };
    for (const guide of guides.filter((name) => findGuideTest(name) === undefined)) {
      const blocks = readBlocks(guide);
      for (const [nth, block] of blocks.entries()) {
        if (block.language === 'text') continue;
        const expected = blocks[nth + 1];
        expect(expected?.language, `output of block ${nth + 1} of ${guide}`).toBe('text');
        expect(await runBlock(block, env), `block ${nth + 1} of ${guide}`).toBe(expected?.code.trim());
      }
    }
  });

  test('print why a contact or a whole request is rejected, in backend.md', async () => {
    const { url } = await serveHere();
    const { serverTokenUUID } = await createAccount(url);
    for (const block of readBlocks('backend.md').filter(({ language }) => ['js', 'python', 'php'].includes(language))) {
      const refused = { ...block, code: block.code.replace(/\w+@shop\.example/, 'ann') };
      const env = { FIRSTHAND_URL: url, SERVER_TOKEN: serverTokenUUID };
      await expect(runBlock(refused, env)).rejects.toThrow(/invalid_field: `contact\[0\]\.contactEmailaddress`/);
      await expect(runBlock(block, { ...env, SERVER_TOKEN: 'server_wrong' })).rejects.toThrow(/invalid_token: /);
    }
  });
});
