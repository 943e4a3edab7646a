import { expect, it } from 'vitest';
import { scriptTag } from './script-tag.ts';

const root = 'https://shop.example/s';
const tagOf = (trackerPath: string, apiPrefix?: string) =>
  scriptTag(root, 'browser_x', { trackerPath, apiPrefix }).split('\n').at(-1);

it('uses the script that logs page views, at the configured path', () => {
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
])('connects a page with script %s to the API below %s with data-api="%s"', (trackerPath, prefix, api) => {
  expect(tagOf(trackerPath, prefix)).toContain(` data-api="${api}" data-page-views="`);
  expect(new URL(api, root + trackerPath).href).toBe(root + prefix);
});
