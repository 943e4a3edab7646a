import { expect, it } from 'vitest';
import { createLineCount } from './line-count.ts';

it('counts lines across chunks, ignoring line breaks inside cells', () => {
  const linesUntil = createLineCount();
  const parts = ['name,text\r\nAnn,"two\r', '\nli""nes"\r\nBob', ',\r\n'];
  expect(parts.map((part) => linesUntil(new TextEncoder().encode(part)))).toEqual([1, 2, 3]);
});
