import { describe, expect, test, vi } from 'vitest';
import { soon } from '../../../../test/fixtures/patience.ts';
import { newContact, newEvent } from '../../../../test/fixtures/store.ts';
import { maxWaitingBytes } from '../../backpressure.ts';
import type { Call } from '../calls.ts';
import type { StartedThread } from '../threads/thread.ts';
import { createWriteQueue } from './write-queue.ts';

const turn = () => new Promise(setImmediate);

/** A thread that answers each call with its name, one message when it is told to. */
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

describe('writes', () => {
  test('of one turn go together, and what arrives while two commits are under way goes into the third', async () => {
    const { thread, messages, answerNext } = createThread();
    const { ask } = createWriteQueue(thread, () => {});
    const asked = [ask(call('a')), ask(call('b'))];
    await turn();
    asked.push(ask(call('c')));
    await turn();
    for (const name of ['d', 'e', 'f']) {
      asked.push(ask(call(name)));
      await turn();
    }
    expect(messages).toEqual([['a', 'b'], ['c']]);
    await answerNext();
    expect(messages).toEqual([['a', 'b'], ['c'], ['d', 'e', 'f']]);
    await answerNext();
    await answerNext();
    expect(await Promise.all(asked)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  test.each([
    ['logEvents', large],
    ['createContact', largeContact],
  ])('are refused beyond what may wait, and taken again when there is room: %s', async (_, large) => {
    const { thread, answerNext } = createThread();
    const { ask } = createWriteQueue(thread, () => {});
    const asked: Promise<unknown>[] = [];
    const refused = vi.fn();
    while (refused.mock.calls.length === 0) {
      asked.push(ask(large).catch(refused));
      await Promise.resolve();
      await Promise.resolve();
    }
    expect(refused).toHaveBeenCalledWith(expect.objectContaining({ code: 'unavailable', retryAfterSeconds: 1 }));
    expect(asked.length * 400_000).toBeGreaterThan(maxWaitingBytes / 2);
    expect(asked.length * 400_000).toBeLessThan(maxWaitingBytes * 2);
    await turn();
    await answerNext();
    await Promise.all(asked);
    await Promise.race([ask(call('small')), turn()]);
    expect(refused).toHaveBeenCalledTimes(1);
  });

  test('are drained when all are answered', async () => {
    const { thread, answerNext } = createThread();
    const { ask, drain } = createWriteQueue(thread, () => {});
    await drain();
    const drained = vi.fn();
    void ask(call('a'));
    const draining = drain().then(drained);
    await turn();
    void ask(call('b'));
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
  ])('fail when the thread %s, and later ones are carried out', async (_, fail) => {
    const { thread, answerNext } = createThread();
    const send = vi.spyOn(thread, 'send');
    const { ask, drain } = createWriteQueue(thread, () => {});
    for (const name of ['a', 'b', 'c']) {
      send.mockImplementationOnce(fail);
      await expect(Promise.race([ask(call(name)), turn().then(turn).then(turn)])).rejects.toThrow(
        'could not be cloned',
      );
    }
    const asked = ask(call('d'));
    await turn();
    await answerNext();
    expect(await asked).toBe('d');
    await drain();
  });

  test('are told of after each commit that kept something', async () => {
    const onCommit = vi.fn();
    const refusing: Pick<StartedThread, 'send'> = {
      send: async (calls) =>
        calls.map(({ name }) => (name === 'bad' ? { error: new Error(name) } : { value: undefined })),
    };
    const { ask } = createWriteQueue(refusing, onCommit);
    await expect(ask(call('bad'))).rejects.toThrow('bad');
    expect(onCommit).not.toHaveBeenCalled();
    await Promise.allSettled([ask(call('bad')), ask(call('good'))]);
    await vi.waitFor(() => expect(onCommit).toHaveBeenCalledTimes(1), soon);
  });
});
