import { afterEach, expect, test, vi } from 'vitest';
import { setDebug, warn } from './warn.ts';

const shown = vi.spyOn(console, 'warn').mockImplementation(() => {});
afterEach(() => shown.mockClear());

test('writes each reason once, which is an error or a text, with what it is about', () => {
  for (const about of [1, 2]) {
    warn('full', about);
    warn(Error('no text'), about);
  }
  expect(shown.mock.calls).toEqual([
    ['firsthand:', 'full', 1],
    ['firsthand:', Error('no text'), 1],
  ]);
});

test('writes it every time with debug', () => {
  setDebug(true);
  warn('full');
  warn('full');
  setDebug(false);
  warn('full');
  expect(shown).toHaveBeenCalledTimes(2);
});
