import { expect, it } from 'vitest';
import { createFairQueue } from './fair-queue.ts';

/** `started` lists tasks in the order in which they started. */
const setUp = (max: number) => {
  const takeTurn = createFairQueue(max);
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const settled = () => new Promise(setImmediate);
  const add = async (name: string, account: number, isShared = false) => {
    takeTurn({ account, isShared }, () => {
      started.push(name);
      return new Promise<void>((resolve) => ends.set(name, resolve));
    });
    await settled();
  };
  const end = async (name: string) => {
    ends.get(name)?.();
    await settled();
  };
  return { add, end, started };
};

it('reserves the last free slot for an account without a running task', async () => {
  const { add, end, started } = setUp(3);
  for (const name of ['a1', 'a2', 'a3', 'a4']) await add(name, 1);
  await add('b1', 2);
  await add('b2', 2);
  expect(started).toEqual(['a1', 'a2', 'b1']);
  await end('a1');
  await add('c1', 3);
  expect(started).toEqual(['a1', 'a2', 'b1', 'c1']);
  await end('a2');
  await end('c1');
  expect(started.slice(4)).toEqual(['a3']);
  await end('b1');
  expect(started.slice(4)).toEqual(['a3', 'b2']);
});

it('starts different accounts’ tasks in turn, and the same account’s tasks in order', async () => {
  const { add, end, started } = setUp(3);
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) await add(name, 1);
  for (const name of ['b1', 'b2', 'b3']) await add(name, 2);
  for (let nth = 0; nth < started.length; nth += 1) await end(started[nth] as string);
  expect(started).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'a4', 'b3', 'a5']);
});

it('starts tasks for share links after those for members, and never in the last free slot', async () => {
  const { add, end, started } = setUp(3);
  await add('link1', 1, true);
  await add('link2', 2, true);
  await add('link3', 3, true);
  await add('a1', 1);
  await add('a2', 4);
  expect(started).toEqual(['link1', 'link2', 'a1']);
  await end('link1');
  await end('a1');
  expect(started).toEqual(['link1', 'link2', 'a1', 'a2']);
  await end('link2');
  await end('a2');
  expect(started).toEqual(['link1', 'link2', 'a1', 'a2', 'link3']);
});

it('frees a failed task’s slot', async () => {
  const takeTurn = createFairQueue(1);
  const failing = () => Promise.reject(new Error('no'));
  await expect(takeTurn({ account: 1 }, failing)).rejects.toThrow('no');
  expect(await takeTurn({ account: 1 }, async () => 'done')).toBe('done');
});
