import { describe, expect, it } from 'vitest';
import { preflightHeaders } from './cors.ts';

const own = 'Authorization, Content-Encoding, Content-Type';
const allowed = (requested: string) => preflightHeaders(['POST'], requested)['Access-Control-Allow-Headers'];

describe('the headers that a preflight allows', () => {
  it.each([
    ['', own],
    ['content-type', own],
    ['x-requested-with', `${own}, x-requested-with`],
    ['content-type,x-requested-with, traceparent , X-A', `${own}, x-requested-with, traceparent, X-A`],
    ['x-a,x-a', `${own}, x-a`],
    ['x-firsthand-console', own],
    ['X-Firsthand-Console, x-a', `${own}, x-a`],
  ])('are the service’s own and the requested headers: %s', (requested, expected) => {
    expect(allowed(requested)).toBe(expected);
  });

  it.each([
    ['an empty name', 'x-a,,x-b'],
    ['a space', 'x a'],
    ['a line break', 'x-a\r\nSet-Cookie: a=b'],
    ['a colon', 'x-a: b'],
    ['a character not allowed in names', 'x-é'],
    ['a long name', 'x'.repeat(65)],
    ['too many names', Array.from({ length: 33 }, (_, index) => `x-${index}`).join(',')],
    ['too much text', `${'x,'.repeat(5_000)}x`],
    ['too many spaces', ` ${' '.repeat(30_000)}x`],
  ])('include only the service’s own if the requested headers have %s', (_, requested) => {
    expect(allowed(requested)).toBe(own);
  });
});
