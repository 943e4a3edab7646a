import { describe, expect, test, vi } from 'vitest';
import { newContact, newEvent } from '../../../../test/fixtures/store.ts';
import { soon } from '../../../../test/fixtures/timeouts.ts';
import { maxWaitingBytes } from '../../backpressure.ts';
import type { Call } from '../calls.ts';
import type { StartedThread } from '../threads/thread.ts';
import { createWriteQueue } from './write-queue.ts';

const turn = () => new Promise(setImmediate);

/** Creates a fake thread that replies to each call with the call's name. `answerNext` sends one message. */
const createThread = () => {
  const messages: string[][] = [];
  const answers: (() => void)[] = [];
  const thread: Pick<StartedThread, 'send'> = {
    send(calls) {
      messages.push(calls.map(({ name }) => name));
      return new Promise((resolve) => answers.push(() => resolve(calls.map(({ name }) => ({ value: name })))));
    },
  };
  return {
    thread,
    messages,
    answerNext: async () => {
      answers.shift()?.();
      await turn();
    },
  };
};

const call = (name: string): Call => ({ name, request: undefined });
const large: Call = {
  name: 'logEvents',
  request: { events: Array.from({ length: 100 }, () => newEvent({ attributes: [['note', 'x'.repeat(2_000)]] })) },
};
const largeContact: Call = {
  name: 'createContact',
  request: newContact({ attributes: Array.from({ length: 100 }, (_, nth) => [`note-${nth}`, 'x'.repeat(2_000)]) }),
};

describe('the write queue', () => {
  test('sends the writes of one turn in one commit, and writes that arrive during two commits in the next one', async () => {
    const { thread, messages, answerNext } = createThread();
    const { enqueue } = createWriteQueue(thread, () => {});
    const results = [enqueue(call('a')), enqueue(call('b'))];
    await turn();
    results.push(enqueue(call('c')));
    await turn();
    for (const name of ['d', 'e', 'f']) {
      results.push(enqueue(call(name)));
      await turn();
    }
    expect(messages).toEqual([['a', 'b'], ['c']]);
    await answerNext();
    expect(messages).toEqual([['a', 'b'], ['c'], ['d', 'e', 'f']]);
    await answerNext();
    await answerNext();
    expect(await Promise.all(results)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  test.each([
    ['logEvents', large],
    ['createContact', largeContact],
  ])('refuses %s over the memory limit, and accepts writes again later', async (_, large) => {
    const { thread, answerNext } = createThread();
    const { enqueue } = createWriteQueue(thread, () => {});
    const results: Promise<unknown>[] = [];
    const refused = vi.fn();
    while (refused.mock.calls.length === 0) {
      results.push(enqueue(large).catch(refused));
      await Promise.resolve();
      await Promise.resolve();
    }
    expect(refused).toHaveBeenCalledWith(expect.objectContaining({ code: 'unavailable', retryAfterSeconds: 1 }));
    expect(results.length * 400_000).toBeGreaterThan(maxWaitingBytes / 2);
    expect(results.length * 400_000).toBeLessThan(maxWaitingBytes * 2);
    await turn();
    await answerNext();
    await Promise.all(results);
    await Promise.race([enqueue(call('small')), turn()]);
    expect(refused).toHaveBeenCalledTimes(1);
  });

  test('is drained when all writes have a reply', async () => {
    const { thread, answerNext } = createThread();
    const { enqueue, drain } = createWriteQueue(thread, () => {});
    await drain();
    const drained = vi.fn();
    void enqueue(call('a'));
    const draining = drain().then(drained);
    await turn();
    void enqueue(call('b'));
    await turn();
    await answerNext();
    expect(drained).not.toHaveBeenCalled();
    await answerNext();
    await draining;
    expect(drained).toHaveBeenCalled();
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('could not be cloned');
      },
    ],
    ['rejects', () => Promise.reject(new Error('could not be cloned'))],
  ])('rejects a write when the thread %s, and sends later ones', async (_, fail) => {
    const { thread, answerNext } = createThread();
    const send = vi.spyOn(thread, 'send');
    const { enqueue, drain } = createWriteQueue(thread, () => {});
    for (const name of ['a', 'b', 'c']) {
      send.mockImplementationOnce(fail);
      await expect(Promise.race([enqueue(call(name)), turn().then(turn).then(turn)])).rejects.toThrow(
        'could not be cloned',
      );
    }
    const result = enqueue(call('d'));
    await turn();
    await answerNext();
    expect(await result).toBe('d');
    await drain();
  });

  test('calls onCommit after each commit in which a write succeeded', async () => {
    const onCommit = vi.fn();
    const refusing: Pick<StartedThread, 'send'> = {
      send: async (calls) =>
        calls.map(({ name }) => (name === 'bad' ? { error: new Error(name) } : { value: undefined })),
    };
    const { enqueue } = createWriteQueue(refusing, onCommit);
    await expect(enqueue(call('bad'))).rejects.toThrow('bad');
    expect(onCommit).not.toHaveBeenCalled();
    await Promise.allSettled([enqueue(call('bad')), enqueue(call('good'))]);
    await vi.waitFor(() => expect(onCommit).toHaveBeenCalledTimes(1), soon);
  });
});
