import { describe, expect, it } from 'vitest';
import { describeFault } from './faults.ts';

const text = (error: unknown) => JSON.stringify(describeFault(error));

describe('the logged form of an error', () => {
  it('has its name, code and stack', () => {
    const error = Object.assign(new TypeError('broken'), { code: 'E_BROKEN' });
    expect(describeFault(error)).toEqual({
      name: 'TypeError',
      code: 'E_BROKEN',
      stack: expect.stringMatching(/^TypeError: broken\n.*faults\.test\.ts/),
    });
  });

  it.each([
    ['a token', 'server_abcdefghijklmnopqrstuvwx'],
    ['a token with dashes', 'browser_-a_b-c'],
    ['an e-mail address', 'ada.lovelace+x@example.com'],
    ['an e-mail address in another script', '阿@例え.jp'],
    ['a query string', '/logEvent?tokenUUID=abc&x=1'],
  ])('does not contain %s', (_, secret) => {
    const error = new Error(`failed for "${secret}"`, { cause: new Error(`because of (${secret})`) });
    expect(text(error)).toContain('failed for');
    expect(text(error)).toContain('because of');
    for (const part of secret.split('?').slice(-1)) expect(text(error)).not.toContain(part);
  });

  it('does not have other properties', () => {
    const error = Object.assign(new Error('duplicate key'), {
      detail: 'Key (address)=(ada@example.com)',
      row: ['secret'],
    });
    expect(text(error)).not.toMatch(/detail|example|secret/);
  });

  it.each([['text'], [undefined], [null], [{ a: 1 }]])(
    'does not contain a value that is not an error: %o',
    (thrown) => {
      expect(Object.keys(describeFault(thrown))).toEqual(['name']);
    },
  );

  it('has the message if there is no stack', () => {
    const error = new Error('broken');
    delete error.stack;
    expect(describeFault(error)).toEqual({ name: 'Error', stack: 'broken' });
  });

  it('is finite even if causes are circular', () => {
    const error = new Error('first');
    error.cause = error;
    expect(text(error).length).toBeLessThan(20_000);
  });
});
