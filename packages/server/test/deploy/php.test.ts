/** Runs the PHP of packages/docs/backend.md, as guides.test.ts runs its other blocks. */
import { expect, test } from 'vitest';
import { blocksOf, runBlock } from '../fixtures/documents/guides.ts';
import { createAccount, serveHere } from '../fixtures/serving.ts';

test('backend.md prints in PHP what it says', async () => {
  const { url } = await serveHere();
  const { browserTokenUUID, serverTokenUUID } = await createAccount(url);
  const env = { FIRSTHAND_URL: url, BROWSER_TOKEN: browserTokenUUID, SERVER_TOKEN: serverTokenUUID };
  const blocks = blocksOf('backend.md');
  const at = blocks.findIndex(({ language }) => language === 'php');
  const [block, printed] = blocks.slice(at);
  expect([block?.language, printed?.language]).toEqual(['php', 'text']);
  expect(await runBlock(block as NonNullable<typeof block>, env)).toBe(printed?.code.trim());
  const refused = { language: 'php', code: block?.code.replace('bob@shop.example', 'bob') ?? '' };
  await expect(runBlock(refused, env)).rejects.toThrow('invalid_field: `contact[0].contactEmailaddress`');
});
