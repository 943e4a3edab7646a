import { expect, it } from 'vitest';
import { isLocalVisitor } from './loopback.ts';

const visitor = (remoteAddress: string | undefined, headers: Record<string, string> | undefined) =>
  isLocalVisitor({ remoteAddress, headers: new Headers(headers && { host: 'localhost:3000', ...headers }) });

it.each([
  ['127.0.0.1', {}],
  ['127.8.9.10', { host: '127.0.0.1:3000' }],
  ['::1', { host: '[::1]:3000' }],
  ['::ffff:127.0.0.1', { host: 'LocalHost' }],
  ['127.0.0.1', { host: 'shop.localhost' }],
  ['127.0.0.1', { 'sec-fetch-site': 'same-origin' }],
])('accepts a visitor on this machine: %s %j', (address, headers) => {
  expect(visitor(address, headers)).toBe(true);
});

it.each([
  ['from another machine', '192.0.2.1', {}],
  ['from another machine, over IPv6', '2001:db8::1', {}],
  ['through a container bridge', '172.17.0.1', {}],
  ['through a proxy on this machine', '127.0.0.1', { 'x-forwarded-for': '192.0.2.1' }],
  ['through an RFC 7239 proxy', '127.0.0.1', { forwarded: 'for=192.0.2.1' }],
  ['using a name that resolves to this machine (DNS rebinding)', '127.0.0.1', { host: 'evil.example:3000' }],
  ['using a name that looks like localhost', '127.0.0.1', { host: 'localhost.evil.example' }],
  ['using a name that starts with a loopback address', '127.0.0.1', { host: '127.0.0.1.evil.example' }],
  ['with an empty Host', '127.0.0.1', { host: '' }],
  ['without a Host', '127.0.0.1', undefined],
  ['on a page from another site', '127.0.0.1', { 'sec-fetch-site': 'cross-site' }],
  ['whose connection is closed', undefined, {}],
])('rejects a visitor %s', (_, address, headers) => {
  expect(visitor(address, headers)).toBe(false);
});
