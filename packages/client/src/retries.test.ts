import { eventUUIDPattern } from '@firsthand/contract/identifiers';
import { expect, it } from 'vitest';
import { createUUID } from './retries.ts';

it('makes identifiers that the service takes, that differ, and that sort by time', () => {
  const made = [0, 1, Date.now(), Date.UTC(2060, 0)].map((time) => createUUID(time));
  for (const uuid of made) expect(uuid).toMatch(eventUUIDPattern);
  expect([...made].sort()).toEqual(made);
  expect(createUUID(5)).not.toBe(createUUID(5));
});
