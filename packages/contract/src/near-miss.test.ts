import { describe, expect, it } from 'vitest';
import { misspelt, nearestName, unknownName } from './near-miss.ts';

const known = ['userUUID', 'contactUUID', 'eventID', 'attrID', 'attrValue', 'from', 'to', 'limit', 'order', 'cursor'];

describe('the nearest name', () => {
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
  ])('to %s is %s', (name, nearest) => {
    expect(nearestName(name, known)).toBe(nearest);
  });
});

describe('a name of another API', () => {
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
  ])('%s of %j means %s', (name, fields, meant) => {
    expect(nearestName(name, fields)).toBe(meant);
  });
});

describe('a part of a name', () => {
  const fields = ['contactEmailaddress', 'contactFirstname', 'contactLastname', 'contactTelephone', 'contactProfileID'];
  it.each([
    ['contactEmail', 'contactEmailaddress'],
    ['email', 'contactEmailaddress'],
    ['contactPhone', 'contactTelephone'],
    ['first_name', 'contactFirstname'],
    ['profile', 'contactProfileID'],
    ['contact', undefined],
    ['contactName', undefined],
    ['tname', undefined],
  ])('%s finds %s, the only name that contains it', (name, nearest) => {
    expect(nearestName(name, fields)).toBe(nearest);
  });
});

describe('an unknown name', () => {
  it.each([
    [
      'eventId',
      '`eventId` is not a parameter of getEvent. Did you mean `eventID`? Parameter names are case-sensitive.',
    ],
    ['event_id', '`event_id` is not a parameter of getEvent. Did you mean `eventID`?'],
    ['page', `\`page\` is not a parameter of getEvent, which takes ${known.join(', ')}.`],
  ])('is reported with what was probably meant: %s', (name, message) => {
    expect(unknownName(name, 'getEvent', known)).toBe(message);
  });

  it('is not repeated in full when it is long', () => {
    expect(unknownName('x'.repeat(8_000), 'getEvent', known).length).toBeLessThan(300);
  });
});

describe('a missing name', () => {
  it.each([
    [['eventId'], 'The request has `eventId`; field names are case-sensitive.'],
    [['event_id'], 'The request has `event_id`; did you mean `eventID`?'],
    [['useruuid'], 'Another mistake: the request has `useruuid`; did you mean `userUUID`?'],
    [['userUUID', 'product'], ''],
    [['event\u001bID'], ''],
    [[], ''],
  ])('with %j is explained as: %s', (given, sentence) => {
    expect(misspelt('eventID', given, known)).toBe(sentence);
  });

  it('is explained by a misspelt alternative, which is no other mistake', () => {
    expect(misspelt('eventID', ['name'], ['eventID', 'eventName'], ['eventName'])).toBe(
      'The request has `name`; did you mean `eventName`?',
    );
  });

  it('is explained where an e-mail address should name the contact', () => {
    const alternatives = ['contactUUID', 'contactExternalID'];
    expect(misspelt('userUUID', ['contactEmailaddress'], ['userUUID', ...alternatives], alternatives)).toBe(
      'An event does not take `contactEmailaddress`; createContacts returns the contactUUID.',
    );
  });

  it('is looked for among a bounded number of names', () => {
    const many = Array.from({ length: 100_000 }, (_, index) => `x${index}`);
    expect(misspelt('eventID', [...many, 'eventId'], known)).toBe('');
  });
});
