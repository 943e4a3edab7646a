import { describe, expect, it } from 'vitest';
import { BoundedMap } from './bounded-map.ts';

const filled = (maxEntries: number, entries: number) => {
  const map = new BoundedMap<number, string>(maxEntries);
  for (let key = 0; key < entries; key++) map.set(key, `value ${key}`);
  return map;
};

describe('a bounded map', () => {
  it.each([
    [1, 3, [2]],
    [3, 3, [0, 1, 2]],
    [3, 4, [1, 2, 3]],
    [3, 100, [97, 98, 99]],
  ])('of size %d contains the newest of %d entries', (maxEntries, entries, keys) => {
    expect([...filled(maxEntries, entries).keys()]).toEqual(keys);
  });

  it('evicts nothing for an existing key', () => {
    expect([...filled(2, 3).set(1, 'another')]).toEqual([
      [1, 'another'],
      [2, 'value 2'],
    ]);
  });

  it('evicts the oldest entry, even after deletions', () => {
    const map = filled(50, 100);
    let keys = [...map.keys()];
    for (let nth = 0; nth < 20_000; nth++) {
      const key = (nth * 7_919) % 131;
      if (nth % 9_973 === 0) {
        map.clear();
        keys = [];
      } else if (nth % 5 === 0) {
        map.delete(key);
        keys = keys.filter((other) => other !== key);
      } else {
        map.set(key, '');
        if (!keys.includes(key)) keys = [...keys.slice(Math.max(0, keys.length - 49)), key];
      }
      if (nth % 97 === 0) expect([...map.keys()]).toEqual(keys);
    }
  });
});
