import { expect, it } from 'vitest';
import { rootURL } from './root-url.ts';

it.each([
  [{ host: '127.0.0.1', port: 3000, basePath: '/' }, 'http://127.0.0.1:3000'],
  [{ host: '0.0.0.0', port: 80, basePath: '/a/b/' }, 'http://127.0.0.1:80/a/b'],
  [{ host: '::', port: 3000, basePath: '/' }, 'http://[::1]:3000'],
  [{ host: 'shop.internal', port: 3000, basePath: '/' }, 'http://shop.internal:3000'],
])('converts %j to %s', (address, url) => {
  expect(rootURL(address)).toBe(url);
});
