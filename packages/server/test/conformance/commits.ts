import { describe, expect, test, vi } from 'vitest';
import { createSite } from '../fixtures/site.ts';
import { soon } from '../fixtures/timeouts.ts';
import type { NewSite, Open } from './sites.ts';

export const describeCommits = (newSite: NewSite, open: Open): void => {
  describe('the store', () => {
    test('notifies each listener of commits until it is removed', async () => {
      const { store, server } = await newSite();
      const [first, second] = [vi.fn(), vi.fn()];
      const stop = store.onCommit(first);
      store.onCommit(second);
      await server.log({});
      await vi.waitFor(() => expect(first).toHaveBeenCalled(), soon);
      const callsBefore = first.mock.calls.length;
      await server.createContact();
      await vi.waitFor(() => expect(first.mock.calls.length).toBeGreaterThan(callsBefore), soon);
      stop();
      const callsAtStop = first.mock.calls.length;
      second.mockClear();
      await server.log({});
      await vi.waitFor(() => expect(second).toHaveBeenCalled(), soon);
      expect(first).toHaveBeenCalledTimes(callsAtStop);
    });

    test('lets a listener read what was committed', async () => {
      const { store, server, events } = await newSite();
      const counts: number[] = [];
      const stop = store.onCommit(async () => counts.push((await events()).length));
      await server.log({});
      await vi.waitFor(() => expect(counts.at(-1)).toBe(1), soon);
      stop();
    });

    test('passes its check', async () => {
      const { store } = await newSite();
      await expect(store.check()).resolves.not.toThrow();
    });

    test('measures its size and its pending calls', async () => {
      const { store, server } = await newSite();
      await server.log({});
      const idle = await store.measure();
      expect(idle.storedBytes).toBeGreaterThan(10_000);
      expect(idle).toMatchObject({ waitingBytes: expect.any(Number), waitingCalls: expect.any(Number) });
    });

    test('finishes its pending calls when it closes, and rejects later calls', async () => {
      const store = await open();
      const { server, account, events } = await createSite(store);
      const calls = [server.log({}), server.createContact(), events(), store.getAccount(account), server.log({})];
      await store.close();
      const settled = await Promise.allSettled(calls);
      expect(settled.map(({ status }) => status)).toEqual(calls.map(() => 'fulfilled'));
      await expect(server.log({})).rejects.toThrow();
      await expect(events()).rejects.toThrow();
    });
  });
};
