import type { TokenKind } from '@firsthand/contract/account/tokens';
import { operations } from '@firsthand/contract/operations';
import { describe, expect, it } from 'vitest';
import type { Access } from '../../store/store.ts';
import { checkRight } from './rights.ts';

const access = (kind: TokenKind, accountOrigin: string[] = []): Access => ({
  token: 1,
  tokenID: 'id',
  kind,
  account: 1,
  accountOrigin,
  accountTimezone: 'UTC',
  enrich: true,
  defaultProfileID: '',
  userIDIsEmailaddress: false,
});

const outcomeOf = (name: keyof typeof operations, caller: Access, headers: Record<string, string>) => {
  try {
    checkRight(name, operations[name], caller, new Headers(headers));
    return 'allowed';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe('a secret token', () => {
  it.each([
    ['without an Origin', {}, 'allowed'],
    ['from a web page', { Origin: 'https://shop.example' }, 'server_token_in_browser'],
    ['from a web page on this machine', { Origin: 'http://localhost:3000' }, 'server_token_in_browser'],
    ['from a sandboxed page', { Origin: 'null' }, 'server_token_in_browser'],
    ['from a browser extension', { Origin: 'chrome-extension://abc' }, 'allowed'],
    ['with a Referer only', { Referer: 'https://shop.example/' }, 'allowed'],
  ])('%s is %s', (_, headers, expected) => {
    expect(outcomeOf('getEvent', access('server'), headers)).toBe(expected);
    expect(outcomeOf('createAccount', access('operator'), headers)).toBe(expected);
  });
});

describe('a browser token', () => {
  const shop = ['https://shop.example', 'https://*.shop.example'];

  it.each([
    ['from anywhere, if no origins are listed', [], { Origin: 'https://anywhere.example' }, 'allowed'],
    ['from a sandboxed page, if none are listed', [], { Origin: 'null' }, 'allowed'],
    ['from a listed origin', shop, { Origin: 'https://shop.example' }, 'allowed'],
    ['from a listed domain', shop, { Origin: 'https://eu.shop.example' }, 'allowed'],
    ['from another origin', shop, { Origin: 'https://evil.example' }, 'origin_not_allowed'],
    ['from another scheme', shop, { Origin: 'http://shop.example' }, 'origin_not_allowed'],
    ['from a sandboxed page', shop, { Origin: 'null' }, 'origin_not_allowed'],
    ['from an image on a listed page', shop, { Referer: 'https://shop.example/cart?a=b' }, 'allowed'],
    ['from an image on another page', shop, { Referer: 'https://evil.example/' }, 'origin_not_allowed'],
    [
      'with an unlisted Origin and a listed Referer',
      shop,
      { Origin: 'https://evil.example', Referer: shop[0] as string },
      'origin_not_allowed',
    ],
    ['with neither Origin nor Referer', shop, {}, 'allowed'],
    ['with an invalid Referer', shop, { Referer: 'about:blank' }, 'allowed'],
  ])('%s is %s', (_, origins, headers, expected) => {
    expect(outcomeOf('logEvent', access('browser', origins), headers as Record<string, string>)).toBe(expected);
  });

  it('is not allowed to call other operations', () => {
    expect(outcomeOf('getEvent', access('browser'), {})).toBe('token_kind');
    expect(outcomeOf('logEvent', access('operator'), {})).toBe('token_kind');
  });
});
