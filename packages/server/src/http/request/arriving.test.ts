import { expect, test } from 'vitest';
import { createArrivals } from './arriving.ts';

const kibibyte = 1024;

/** Bodies that come in under a bound of 100 KiB; `givenUp` are their names. */
const open = () => {
  const arrive = createArrivals(100 * kibibyte);
  const givenUp: string[] = [];
  return { givenUp, begin: (name: string) => arrive(() => givenUp.push(name)) };
};

test('gives up those that have been coming in for longest, and only as many as it must', () => {
  const { begin, givenUp } = open();
  const bodies = ['first', 'second', 'third'].map(begin);
  for (const body of bodies) body.add(32 * kibibyte);
  expect(givenUp).toEqual([]);
  begin('fourth').add(32 * kibibyte);
  expect(givenUp).toEqual(['first']);
  begin('large').add(60 * kibibyte);
  expect(givenUp).toEqual(['first', 'second', 'third']);
});

test('counts no longer what has come in whole, and what was given up', () => {
  const { begin, givenUp } = open();
  for (let nth = 0; nth < 100; nth += 1) {
    const body = begin(`body ${nth}`);
    body.add(90 * kibibyte);
    body.end();
  }
  const stalled = begin('stalled');
  stalled.add(90 * kibibyte);
  begin('next').add(20 * kibibyte);
  expect(givenUp).toEqual(['stalled']);
  stalled.add(90 * kibibyte);
  stalled.end();
  begin('last').add(70 * kibibyte);
  expect(givenUp).toEqual(['stalled']);
});

test('counts what each piece takes that comes in by itself', () => {
  const { begin, givenUp } = open();
  const dripping = begin('dripping');
  for (let nth = 0; nth < 100; nth += 1) dripping.add(1);
  expect(givenUp).toEqual(['dripping']);
});
