import { expect, it } from 'vitest';
import { scriptAddresses } from './script-addresses.ts';

it('offers each site’s path first, then the console’s own address', () => {
  expect(
    scriptAddresses('https://firsthand.shop.example/s', ['https://shop.example', 'https://www.shop.example']),
  ).toEqual(['https://shop.example/s', 'https://www.shop.example/s', 'https://firsthand.shop.example/s']);
});

it('offers no address for a wildcard', () => {
  expect(scriptAddresses('https://firsthand.shop.example/s', ['https://*.shop.example'])).toEqual([
    'https://firsthand.shop.example/s',
  ]);
});

it('lists each address once', () => {
  expect(scriptAddresses('https://shop.example/s', ['https://shop.example'])).toEqual(['https://shop.example/s']);
});

it('suggests no path on a site if the service is not served under one', () => {
  expect(scriptAddresses('http://127.0.0.1:3000', ['https://shop.example'])).toEqual(['http://127.0.0.1:3000']);
});
