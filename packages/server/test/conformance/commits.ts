import { describe, expect, test, vi } from 'vitest';
import { soon } from '../fixtures/patience.ts';
import { createSite } from '../fixtures/site.ts';
import type { NewSite, Open } from './sites.ts';

export const describeCommits = (newSite: NewSite, open: Open): void => {
  describe('the store itself', () => {
    test('says when something was kept, until it is told to stop', async () => {
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

    test('lets a listener read what was kept', async () => {
      const { store, server, events } = await newSite();
      const seen: number[] = [];
      const stop = store.onCommit(async () => seen.push((await events()).length));
      await server.log({});
      await vi.waitFor(() => expect(seen.at(-1)).toBe(1), soon);
      stop();
    });

    test('answers that it is fit to serve', async () => {
      const { store } = await newSite();
      await expect(store.check()).resolves.not.toThrow();
    });

    test('measures its size, and the calls that wait', async () => {
      const { store, server } = await newSite();
      await server.log({});
      const idle = await store.measure();
      expect(idle.storedBytes).toBeGreaterThan(10_000);
      expect(idle).toMatchObject({ waitingBytes: expect.any(Number), waitingCalls: expect.any(Number) });
    });

    test('closes when what was asked of it is done, and does nothing after', async () => {
      const store = await open();
      const { server, account, events } = await createSite(store);
      const asked = [server.log({}), server.createContact(), events(), store.getAccount(account), server.log({})];
      await store.close();
      const settled = await Promise.allSettled(asked);
      expect(settled.map(({ status }) => status)).toEqual(asked.map(() => 'fulfilled'));
      await expect(server.log({})).rejects.toThrow();
      await expect(events()).rejects.toThrow();
    });
  });
};
