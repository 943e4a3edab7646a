/** Runs the PHP of packages/docs/backend.md; guides.test.ts runs its other blocks. */
import { expect, test } from 'vitest';
import { blocksOf, runBlock } from '../fixtures/documents/guides.ts';
import { createAccount, serveHere } from '../fixtures/serving.ts';

test('runs the PHP in backend.md, which prints the output shown there', async () => {
  const { url } = await serveHere();
  const { browserTokenUUID, serverTokenUUID } = await createAccount(url);
  const env = { FIRSTHAND_URL: url, BROWSER_TOKEN: browserTokenUUID, SERVER_TOKEN: serverTokenUUID };
  const blocks = blocksOf('backend.md');
  const at = blocks.findIndex(({ language }) => language === 'php');
  const [block, outputBlock] = blocks.slice(at);
  expect([block?.language, outputBlock?.language]).toEqual(['php', 'text']);
  expect(await runBlock(block as NonNullable<typeof block>, env)).toBe(outputBlock?.code.trim());
  const invalidBlock = { language: 'php', code: block?.code.replace('bob@shop.example', 'bob') ?? '' };
  await expect(runBlock(invalidBlock, env)).rejects.toThrow('invalid_field: `contact[0].contactEmailaddress`');
});
