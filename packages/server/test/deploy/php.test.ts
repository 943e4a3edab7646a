/** Runs the PHP code in the guides; guides.test.ts runs the other blocks. */
import { expect, test } from 'vitest';
import { type Block, blocksOf, runBlock } from '../fixtures/documents/guides.ts';
import { createAccount, serveHere } from '../fixtures/serving.ts';

const openServer = async () => {
  const { url } = await serveHere();
  const { browserTokenUUID, serverTokenUUID } = await createAccount(url);
  return { FIRSTHAND_URL: url, BROWSER_TOKEN: browserTokenUUID, SERVER_TOKEN: serverTokenUUID };
};

/** Returns a guide's PHP code and the output that the guide shows. */
const phpOf = (guide: string): readonly [block: Block, output: Block] => {
  const blocks = blocksOf(guide);
  const [block, output] = blocks.slice(blocks.findIndex(({ language }) => language === 'php'));
  expect([block?.language, output?.language]).toEqual(['php', 'text']);
  return [block as Block, output as Block];
};

test.each(['backend.md', 'server-sdks.md'])(
  'runs the PHP code in %s, and gets the output shown there',
  async (guide) => {
    const [block, output] = phpOf(guide);
    expect(await runBlock(block, await openServer())).toBe(output.code.trim());
  },
);

test('prints why a contact is rejected, in backend.md', async () => {
  const [block] = phpOf('backend.md');
  const invalid = { ...block, code: block.code.replace('bob@shop.example', 'bob') };
  await expect(runBlock(invalid, await openServer())).rejects.toThrow(
    'invalid_field: `contact[0].contactEmailaddress`',
  );
});
