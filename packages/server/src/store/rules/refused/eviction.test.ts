import fc from 'fast-check';
import { expect, it } from 'vitest';
import { chooseEvicted, type SenderShare } from './eviction.ts';

const max = { listed: 20, bytes: 1_000 };

/** Creates a list that evicts entries as the drivers do. */
const createList = () => {
  let entries: { sender: number; bytes: number; number: number }[] = [];
  let last = 0;
  const sharesOf = (): SenderShare[] => {
    const shares = new Map<number, SenderShare>();
    for (const { sender, bytes } of entries) {
      const share = shares.get(sender) ?? { sender, listed: 0, bytes: 0 };
      shares.set(sender, { sender, listed: share.listed + 1, bytes: share.bytes + bytes });
    }
    return [...shares.values()];
  };
  const total = () => ({ listed: entries.length, bytes: entries.reduce((sum, { bytes }) => sum + bytes, 0) });
  return {
    sharesOf,
    total,
    add(sender: number, sizes: readonly number[]) {
      for (const bytes of sizes) entries.push({ sender, bytes, number: ++last });
      const held = total();
      const rest = new Map(
        sharesOf().map((share) => [share.sender, entries.filter((entry) => entry.sender === share.sender)]),
      );
      const evicted = chooseEvicted(
        sharesOf(),
        { listed: held.listed - max.listed, bytes: held.bytes - max.bytes },
        (each) => rest.get(each)?.shift(),
      );
      entries = entries.filter((entry) => !evicted.includes(entry));
      return evicted;
    },
  };
};

const sizes = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 30 });

it('never evicts an entry of a sender who has fewer entries than the current sender', () => {
  const requests = fc.array(fc.tuple(fc.integer({ min: 0, max: 4 }), sizes), { maxLength: 40 });
  fc.assert(
    fc.property(requests, (all) => {
      const list = createList();
      for (const [sender, each] of all) {
        const before = list.sharesOf();
        for (const victim of list.add(sender, each)) {
          if (victim.sender === sender) continue;
          const had = before.find((share) => share.sender === victim.sender) as SenderShare;
          const has = list.sharesOf().find((share) => share.sender === sender) ?? { listed: 0, bytes: 0 };
          expect(had.listed >= has.listed || had.bytes >= has.bytes).toBe(true);
        }
        const { listed, bytes } = list.total();
        expect(listed <= max.listed && bytes <= max.bytes).toBe(true);
      }
    }),
  );
});

it('evicts the oldest entry among senders with equal shares', () => {
  const list = createList();
  for (let sender = 1; sender <= max.listed; sender += 1) list.add(sender, [1]);
  expect(list.add(99, [1])).toMatchObject([{ sender: 1 }]);
});

it('stops evicting if the shares list more entries than exist', () => {
  expect(chooseEvicted([{ sender: 1, listed: 5, bytes: 5 }], { listed: 9, bytes: 0 }, () => undefined)).toEqual([]);
});
