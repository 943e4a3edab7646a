import { expect, test } from 'vitest';
import { isContactRecord, toContactRecord } from './contacts.ts';
import { toEventRecord } from './events.ts';

test('a contact’s record is what createContact takes, less the envelope', () => {
  const record = toContactRecord(
    { contactEmailaddress: 'a@example.com', contactProfileID: 5, contactTitle: null, contactAttr: { colour: 'red' } },
    'request_1',
  );
  expect(JSON.parse(record)).toEqual({
    requestUUID: 'request_1',
    contactEmailaddress: 'a@example.com',
    contactProfileID: '5',
    contactAttr: [{ attrID: 'colour', attrValue: 'red' }],
  });
});

test('is told from an event', () => {
  expect(isContactRecord(toContactRecord({}, 'request_1'))).toBe(true);
  expect(isContactRecord(toEventRecord(1, 'event_00', undefined))).toBe(false);
});
