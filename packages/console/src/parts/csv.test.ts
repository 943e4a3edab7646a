import { expect, it } from 'vitest';
import { toCSV } from './csv.ts';

it('writes rows as RFC 4180 specifies', () => {
  const rows = [
    ['Ann "the cup" Lemon', 'a,b', 1.5],
    ['two\nlines', null, undefined],
  ];
  expect(toCSV(['name', 'list', 'number'], rows)).toBe(
    'name,list,number\r\n"Ann ""the cup"" Lemon","a,b",1.5\r\n"two\nlines",,\r\n',
  );
});

it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '=HYPERLINK("http://evil.example";"x")'])(
  'prevents spreadsheets from reading %j as a formula',
  (text) => {
    const [, cell = ''] = toCSV(['a'], [[text]]).split('\r\n');
    expect(cell.replace(/^"/, '')[0]).toBe("'");
  },
);

it.each([
  ['tea;=1+1', "tea;'=1+1"],
  ['two\n=1+1', '"two\n\'=1+1"'],
  ['\t=1+1', "'\t'=1+1"],
  ['＝1+1', "'＝1+1"],
])('escapes the formula inside %j', (text, written) => {
  expect(toCSV(['a'], [[text]])).toBe(`a\r\n${written}\r\n`);
});

it('does not change text that has these characters elsewhere', () => {
  const text = 'tea & biscuits=good; e-mail a@b.example +1';
  expect(toCSV(['a'], [[text]])).toBe(`a\r\n${text}\r\n`);
});

it('does not escape negative numbers', () => {
  expect(toCSV(['a'], [[-5]])).toBe('a\r\n-5\r\n');
});

it('rounds sums of decimals to six places', () => {
  expect(toCSV(['a'], [[990.1999999999999], [0.1 + 0.2]])).toBe('a\r\n990.2\r\n0.3\r\n');
});
