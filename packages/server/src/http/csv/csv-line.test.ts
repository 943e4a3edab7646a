import { expect, it } from 'vitest';
import { toCSVLine } from './csv-line.ts';

it('writes cells according to RFC 4180', () => {
  expect(toCSVLine(['Ann "the cup" Lemon', 'a,b', 1.5, -5, true, null, undefined, 'two\nlines'])).toBe(
    '"Ann ""the cup"" Lemon","a,b",1.5,-5,true,,,"two\nlines"\r\n',
  );
});

it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '=HYPERLINK("http://evil.example";"x")', '＝1+1'])(
  'starts %j with an apostrophe, so that a spreadsheet does not run it as a formula',
  (text) => {
    expect(toCSVLine([text]).replace(/^"/, '')[0]).toBe("'");
  },
);

it.each([
  ['tea;=1+1', "tea;'=1+1"],
  ['two\n=1+1', '"two\n\'=1+1"'],
  ['\t=1+1', "'\t'=1+1"],
])('also escapes formulas inside %j', (text, written) => {
  expect(toCSVLine([text])).toBe(`${written}\r\n`);
});

it('does not change text with these characters elsewhere', () => {
  expect(toCSVLine(['tea & biscuits=good; e-mail a@b.example +1'])).toBe(
    'tea & biscuits=good; e-mail a@b.example +1\r\n',
  );
});

it('rounds to six decimal places, and keeps whole numbers', () => {
  expect(toCSVLine([990.1999999999999, 0.1 + 0.2, 1e-9, 9_007_199_254_740_991])).toBe(
    '990.2,0.3,0,9007199254740991\r\n',
  );
});
