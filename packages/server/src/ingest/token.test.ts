import { tokenKinds } from '@firsthand/contract/account/tokens';
import { describe, expect, it } from 'vitest';
import { createTokenText, hashToken, newToken } from './token.ts';

describe('a token', () => {
  it.each(tokenKinds)('starts with its kind (%s) and is unique', (kind) => {
    expect(createTokenText(kind)).toMatch(new RegExp(`^${kind}_[\\w-]{24}$`));
    expect(createTokenText(kind)).not.toBe(createTokenText(kind));
  });

  it('is found by its SHA-256 in hex', () => {
    expect(hashToken('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  it.each([
    ['browser', 'a text'],
    ['server', null],
    ['viewer', null],
    ['operator', null],
  ] as const)('of kind %s is stored with the text %s', (kind, text) => {
    const token = newToken(kind, { text: 'a text', tokenID: 'id', tokenName: 'shop', time: 5 });
    const expected = { tokenID: 'id', kind, tokenName: 'shop', time: 5 };
    expect(token).toEqual({ ...expected, hash: hashToken('a text'), text });
  });
});
