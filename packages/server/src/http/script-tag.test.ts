import { expect, it } from 'vitest';
import { scriptTag } from './script-tag.ts';

const root = 'https://shop.example/s';
const tagOf = (trackerPath: string, apiPrefix?: string) =>
  scriptTag(root, 'browser_x', { trackerPath, apiPrefix }).split('\n').at(-1);

it('has the script that logs page views, at the set path, and sends to its folder', () => {
  expect(tagOf('/main.js')).toBe(
    '<script async src="https://shop.example/s/main.full.js" data-token="browser_x" data-page-views="Page viewed"></script>',
  );
  expect(tagOf('/assets/a.js', '/assets/')).toBe(
    '<script async src="https://shop.example/s/assets/a.full.js" data-token="browser_x" data-page-views="Page viewed"></script>',
  );
});

it.each([
  ['/main.js', '/data/', 'data/'],
  ['/assets/a.js', '/data/', '../data/'],
  ['/assets/a.js', '/assets/data/', 'data/'],
  ['/x/y/a.js', '/', '../../'],
  ['/x/y/a.js', '/x/', '../'],
])('of %s with the API below %s says data-api="%s", which leads there from the script', (trackerPath, prefix, api) => {
  expect(tagOf(trackerPath, prefix)).toContain(` data-api="${api}" data-page-views="`);
  expect(new URL(api, root + trackerPath).href).toBe(root + prefix);
});
