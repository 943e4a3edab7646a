import { eventUUIDPattern } from '@firsthand/contract/identifiers';
import { expect, it } from 'vitest';
import { createUUID } from './retries.ts';

it('creates unique identifiers that the service accepts and that sort by time', () => {
  const uuids = [0, 1, Date.now(), Date.UTC(2060, 0)].map((time) => createUUID(time));
  for (const uuid of uuids) expect(uuid).toMatch(eventUUIDPattern);
  expect([...uuids].sort()).toEqual(uuids);
  expect(createUUID(5)).not.toBe(createUUID(5));
});
