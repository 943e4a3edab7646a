import { describe, expect, it } from 'vitest';
import { BoundedMap } from './bounded-map.ts';

const filled = (most: number, entries: number) => {
  const map = new BoundedMap<number, string>(most);
  for (let key = 0; key < entries; key++) map.set(key, `value ${key}`);
  return map;
};

describe('a bounded map', () => {
  it.each([
    [1, 3, [2]],
    [3, 3, [0, 1, 2]],
    [3, 4, [1, 2, 3]],
    [3, 100, [97, 98, 99]],
  ])('of %d holds the newest of %d entries', (most, entries, held) => {
    expect([...filled(most, entries).keys()]).toEqual(held);
  });

  it('drops nothing for a key that it has', () => {
    expect([...filled(2, 3).set(1, 'another')]).toEqual([
      [1, 'another'],
      [2, 'value 2'],
    ]);
  });

  it('drops the oldest entry, whatever else is deleted', () => {
    const map = filled(50, 100);
    let held = [...map.keys()];
    for (let nth = 0; nth < 20_000; nth++) {
      const key = (nth * 7_919) % 131;
      if (nth % 9_973 === 0) {
        map.clear();
        held = [];
      } else if (nth % 5 === 0) {
        map.delete(key);
        held = held.filter((other) => other !== key);
      } else {
        map.set(key, '');
        if (!held.includes(key)) held = [...held.slice(Math.max(0, held.length - 49)), key];
      }
      if (nth % 97 === 0) expect([...map.keys()]).toEqual(held);
    }
  });
});
