import { expect, test } from 'vitest';
import { newAccount, newEvent, newToken, quarter } from '../../../test/fixtures/store.ts';
import { openConnection } from './connection.ts';
import { createCounter } from './counts.ts';
import { createWriteEngine } from './engine.ts';
import { migrate } from './migrate.ts';

test('lets others go first after each kind of event that it counts', () => {
  const db = openConnection(':memory:', 'write');
  migrate(db, ':memory:');
  const events = [1, 2, 3, 3].map((eventID) => newEvent({ eventID, eventTime: eventID * quarter }));
  createWriteEngine(db).write([
    { name: 'createAccount', request: newAccount({ tokens: [newToken('server')] }) },
    { name: 'logEvents', request: { account: 1, token: 1, browser: false, receivedTime: 0, events } },
  ]);
  const { countEvents, getEventDefinitions } = createCounter(db);
  const edges = [0, 2 * quarter, 3 * quarter, 9 * quarter];
  const counting = countEvents({ account: 1, edges, users: false });
  for (const _ of events.slice(1)) expect(counting.next()).toEqual({ done: false, value: undefined });
  expect(counting.next()).toEqual({ done: true, value: [{ events: 1 }, { events: 1 }, { events: 2 }] });
  const defining = getEventDefinitions(1);
  for (const _ of events.slice(1)) expect(defining.next().done).toBe(false);
  expect(defining.next()).toMatchObject({ done: true, value: [{ count: 1 }, { count: 1 }, { count: 2 }] });
});
