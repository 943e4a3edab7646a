import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { setDebug, warn } from './warn.ts';

const consoleWarn = vi.spyOn(console, 'warn').mockImplementation(() => {});
afterEach(() => consoleWarn.mockClear());
afterAll(() => consoleWarn.mockRestore());

test('logs each reason once, whether an error or a string, with its details', () => {
  for (const detail of [1, 2]) {
    warn('full', detail);
    warn(Error('no text'), detail);
  }
  expect(consoleWarn.mock.calls).toEqual([
    ['firsthand:', 'full', 1],
    ['firsthand:', Error('no text'), 1],
  ]);
});

test('logs a reason every time in debug mode', () => {
  setDebug(true);
  warn('full');
  warn('full');
  setDebug(false);
  warn('full');
  expect(consoleWarn).toHaveBeenCalledTimes(2);
});
