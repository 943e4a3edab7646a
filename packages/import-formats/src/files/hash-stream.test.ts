import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { hashStream } from './hash-stream.ts';
import { toSource } from './source.fixture.ts';

it('matches Node’s hash for any content, prefix and chunk size', () =>
  fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 400 }),
      fc.string(),
      fc.integer({ min: 1, max: 200 }),
      async (content, prefix, chunkSize) => {
        const expected = createHash('sha256').update(prefix).update(content).digest('hex');
        expect(await hashStream(toSource(content, chunkSize), prefix)).toBe(expected);
      },
    ),
  ));

it('matches Node’s hash for a large input', async () => {
  const content = new Uint8Array(1_000_017).map((_, index) => index * 7);
  expect(await hashStream(toSource(content, 65_536))).toBe(createHash('sha256').update(content).digest('hex'));
});
