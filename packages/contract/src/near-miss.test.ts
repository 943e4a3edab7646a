import { describe, expect, it } from 'vitest';
import { describeMisspelling, describeUnknownName, nearestName } from './near-miss.ts';

const fields = ['userUUID', 'contactUUID', 'eventID', 'attrID', 'attrValue', 'from', 'to', 'limit', 'order', 'cursor'];

describe('nearestName', () => {
  it.each([
    ['eventId', 'eventID'],
    ['EVENTID', 'eventID'],
    ['event_id', 'eventID'],
    ['event-id', 'eventID'],
    ['evnetID', 'eventID'],
    ['contactID', 'contactUUID'],
    ['contactUID', 'contactUUID'],
    ['attributeID', undefined],
    ['attrVal', 'attrValue'],
    ['form', 'from'],
    ['too', undefined],
    ['limits', 'limit'],
    ['contactEmailaddress', undefined],
    ['', undefined],
    ['__proto__', undefined],
    ['e'.repeat(100_000), undefined],
  ])('returns for %s: %s', (name, nearest) => {
    expect(nearestName(name, fields)).toBe(nearest);
  });
});

describe('nearestName, for a name from another API,', () => {
  const event = ['userUUID', 'eventID', 'eventName', 'eventTime', 'eventAttrArray'];
  const contact = ['contactEmailaddress', 'contactFirstname', 'contactProfileID', 'contactAttr'];
  it.each([
    ['name', event, 'eventName'],
    ['event', event, 'eventName'],
    ['attrs', event, 'eventAttrArray'],
    ['eventAttr', event, 'eventAttrArray'],
    ['properties', event, 'eventAttrArray'],
    ['timestamp', event, 'eventTime'],
    ['attrs', contact, 'contactAttr'],
    ['traits', contact, 'contactAttr'],
    ['name', contact, undefined],
    ['constructor', event, undefined],
  ])('maps %s among %j to %s', (name, candidates, expected) => {
    expect(nearestName(name, candidates)).toBe(expected);
  });
});

describe('nearestName, for part of a name,', () => {
  const contactFields = [
    'contactEmailaddress',
    'contactFirstname',
    'contactLastname',
    'contactTelephone',
    'contactProfileID',
  ];
  it.each([
    ['contactEmail', 'contactEmailaddress'],
    ['email', 'contactEmailaddress'],
    ['contactPhone', 'contactTelephone'],
    ['first_name', 'contactFirstname'],
    ['profile', 'contactProfileID'],
    ['contact', undefined],
    ['contactName', undefined],
    ['tname', undefined],
  ])('maps %s to %s, the only name that contains it', (name, nearest) => {
    expect(nearestName(name, contactFields)).toBe(nearest);
  });
});

describe('describeUnknownName', () => {
  it.each([
    [
      'eventId',
      '`eventId` is not a parameter of getEvent. Did you mean `eventID`? Parameter names are case-sensitive.',
    ],
    ['event_id', '`event_id` is not a parameter of getEvent. Did you mean `eventID`?'],
    ['page', `\`page\` is not a parameter of getEvent, which takes ${fields.join(', ')}.`],
  ])('suggests what was probably meant by %s', (name, message) => {
    expect(describeUnknownName(name, 'getEvent', fields)).toBe(message);
  });

  it('truncates a long name', () => {
    expect(describeUnknownName('x'.repeat(8_000), 'getEvent', fields).length).toBeLessThan(300);
  });
});

describe('describeMisspelling', () => {
  it.each([
    [['eventId'], 'The request has `eventId`; field names are case-sensitive.'],
    [['event_id'], 'The request has `event_id`; did you mean `eventID`?'],
    [['useruuid'], 'Another mistake: the request has `useruuid`; did you mean `userUUID`?'],
    [['userUUID', 'product'], ''],
    [['event\u001bID'], ''],
    [[], ''],
  ])('explains a missing name by %j: %s', (names, sentence) => {
    expect(describeMisspelling('eventID', names, fields)).toBe(sentence);
  });

  it('treats a misspelled alternative as the same mistake', () => {
    expect(describeMisspelling('eventID', ['name'], ['eventID', 'eventName'], ['eventName'])).toBe(
      'The request has `name`; did you mean `eventName`?',
    );
  });

  it('explains that an e-mail address cannot identify an event’s contact', () => {
    const alternatives = ['contactUUID', 'contactExternalID'];
    expect(describeMisspelling('userUUID', ['contactEmailaddress'], ['userUUID', ...alternatives], alternatives)).toBe(
      'Events have no field `contactEmailaddress`; createContacts returns the contactUUID.',
    );
  });

  it('compares only a bounded number of names', () => {
    const many = Array.from({ length: 100_000 }, (_, index) => `x${index}`);
    expect(describeMisspelling('eventID', [...many, 'eventId'], fields)).toBe('');
  });
});
