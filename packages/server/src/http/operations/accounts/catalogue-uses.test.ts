import { expect, test } from 'vitest';
import type { EventDefinition } from '../../../store/store.ts';
import { checkRemovals } from './catalogue-uses.ts';

test('reads the event counts once for any number of removed entries', async () => {
  let reads = 0;
  const used: EventDefinition = { eventID: 500, eventName: '500', count: 1, firstTime: 0, lastTime: 0 };
  const store = {
    searchContact: expect.unreachable as never,
    getEvents: expect.unreachable as never,
    getEventDefinitions: async () => {
      reads += 1;
      return [used];
    },
  };
  const event = (id: number) => ({ id: String(id), remove: true });
  const unused = Array.from({ length: 400 }, (_, nth) => event(nth + 1));
  await checkRemovals(store, 1, { event: unused });
  expect(reads).toBe(1);
  await expect(checkRemovals(store, 1, { event: [...unused, event(500)] })).rejects.toMatchObject({
    code: 'id_in_use',
    field: 'event[400].eventID',
  });
  expect(reads).toBe(2);
});
