import { describe, expect, it, vi } from 'vitest';
import type { Parcel } from '../several.ts';
import { mostWaitingBytes } from '../waiting.ts';
import { createCommitRelay } from './commit-relay.ts';

const turn = () => new Promise(setImmediate);
const parcel = (name: number): Parcel => new Uint8Array([name]);

/** A thread that answers each parcel with itself, one message when it is told to. */
const setUp = () => {
  const messages: number[][] = [];
  const answers: ((isAlive: boolean) => void)[] = [];
  const onCommit = vi.fn();
  const relay = createCommitRelay(
    {
      sendParcels: (parcels) => {
        messages.push(parcels.map(([name]) => name as number));
        return new Promise((resolve) => answers.push((isAlive) => resolve(isAlive ? parcels : undefined)));
      },
    },
    onCommit,
  );
  const answerNext = async (isAlive = true) => {
    answers.shift()?.(isAlive);
    await turn();
  };
  return { relay, messages, answerNext, onCommit };
};

describe('parcels', () => {
  it('that come while two commits are under way go together into the next', async () => {
    const { relay, messages, answerNext } = setUp();
    const outcomes: unknown[] = [];
    for (const name of [1, 2, 3, 4, 5]) {
      void relay.commit(parcel(name), 1).then((outcome) => outcomes.push(outcome));
      if (name < 3) await turn();
    }
    await turn();
    expect(messages).toEqual([[1], [2]]);
    await answerNext();
    expect(messages).toEqual([[1], [2], [3, 4, 5]]);
    await answerNext();
    await answerNext();
    expect(outcomes).toEqual([1, 2, 3, 4, 5].map(parcel));
  });

  it('are refused beyond what may wait of all processes together, and taken again when there is room', async () => {
    const { relay, answerNext } = setUp();
    const most = relay.commit(parcel(1), mostWaitingBytes);
    expect(await relay.commit(parcel(2), 1)).toBeUndefined();
    await turn();
    await answerNext();
    expect(await most).toEqual(parcel(1));
    const next = relay.commit(parcel(3), mostWaitingBytes);
    await turn();
    await answerNext();
    expect(await next).toEqual(parcel(3));
  });

  it('are heard of before they are answered', async () => {
    const { relay, answerNext, onCommit } = setUp();
    const heard = relay.commit(parcel(1), 1).then(() => onCommit.mock.calls.length);
    await turn();
    await answerNext();
    expect(await heard).toBe(1);
  });

  it('of a thread that has ended are not kept, and no commit', async () => {
    const { relay, answerNext, onCommit } = setUp();
    const answer = relay.commit(parcel(1), 1);
    const drained = relay.drain();
    await turn();
    await answerNext(false);
    expect(await answer).toBeUndefined();
    expect(onCommit).not.toHaveBeenCalled();
    await drained;
  });
});
