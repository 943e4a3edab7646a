import { expect, it, vi } from 'vitest';
import { createIsRobot } from './robots.ts';

const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36';

it.each([
  ['Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', true],
  [chrome.replace('Chrome/', 'HeadlessChrome/'), true],
  ['python-requests/2.32.3', true],
  [chrome, false],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 Version/18.1 Mobile/15E148 Safari/604.1',
    false,
  ],
  ['', false],
  [null, false],
])('%s is a robot: %s', (userAgent, expected) => {
  expect(createIsRobot()(userAgent)).toBe(expected);
});

it('looks at a user agent once, and remembers a bounded number', () => {
  const find = vi.fn(() => true);
  const isRobot = createIsRobot(find);
  for (let times = 0; times < 3; times++) isRobot('x');
  expect(find).toHaveBeenCalledTimes(1);
  for (let nth = 0; nth < 2_000; nth++) isRobot(`agent ${nth}`);
  isRobot('x');
  expect(find).toHaveBeenCalledTimes(2_002);
});

it('looks at no more than the beginning of a long one', () => {
  const find = vi.fn((userAgent: string) => userAgent.length > 512);
  expect(createIsRobot(find)('x'.repeat(30_000))).toBe(false);
});
