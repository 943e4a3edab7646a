import { expect, test } from 'vitest';
import { isContactRecord, toContactRecord } from './contacts.ts';

test('creates a contact record in the form that createContact accepts, without the envelope', () => {
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

test('leaves out fields that can’t be converted to text, and includes the rest', () => {
  const fields = {
    contactEmailaddress: 'a@example.com',
    get contactTitle() {
      throw new Error('getter');
    },
    contactJobRole: {},
  };
  expect(JSON.parse(toContactRecord(fields, 'request_1'))).toEqual({
    requestUUID: 'request_1',
    contactEmailaddress: 'a@example.com',
  });
});

test('distinguishes contacts from events, alone and in batches', () => {
  const contact = toContactRecord({ contactAttr: { a: '"}' } }, 'request_1');
  const event = '{"eventID":1,"eventAttrArray":[{"attrID":"a","attrValue":"\\"}\\n"}]}';
  expect([contact, `${event}\n${contact}`, `${contact}\n${event}`].map(isContactRecord)).toEqual([true, true, true]);
  expect([event, `${event},${event}`, `${event}\n${event}`].map(isContactRecord)).toEqual([false, false, false]);
});
