import { expect, it } from 'vitest';
import { scriptTag } from './script-tag.ts';

const root = 'https://shop.example/s';
const tagOf = (trackerPath: string, apiPrefix?: string) =>
  scriptTag(root, 'browser_x', { trackerPath, apiPrefix }).split('\n').at(-1);

it('has the set path of the script, and sends to its folder', () => {
  expect(tagOf('/main.js')).toBe('<script async src="https://shop.example/s/main.js" data-token="browser_x"></script>');
  expect(tagOf('/assets/a.js', '/assets/')).toBe(
    '<script async src="https://shop.example/s/assets/a.js" data-token="browser_x"></script>',
  );
});

it.each([
  ['/main.js', '/data/', 'data/'],
  ['/assets/a.js', '/data/', '../data/'],
  ['/assets/a.js', '/assets/data/', 'data/'],
  ['/x/y/a.js', '/', '../../'],
  ['/x/y/a.js', '/x/', '../'],
])('of %s with the API below %s says data-api="%s", which leads there from the script', (trackerPath, prefix, api) => {
  expect(tagOf(trackerPath, prefix)).toContain(` data-api="${api}"></script>`);
  expect(new URL(api, root + trackerPath).href).toBe(root + prefix);
});
