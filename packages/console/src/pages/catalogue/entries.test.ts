import { describe, expect, test } from 'vitest';
import { type Entry, entriesOf, entriesWith, requestFor, withChange } from './entries.ts';

const catalogues = {
  event: [{ eventID: 1, eventName: 'Page view', browser: true }],
  attr: [{ attrID: 'amount', attrName: 'Revenue', attrType: 'currency' as const, browser: false }],
  tag: [{ tagID: 'vip', tagName: 'VIP', browser: true }],
  profile: [{ profileID: 'customer', profileName: 'Customer', browser: true }],
};
const uses = { eventID: 1, eventName: 'Page view', count: 7, firstTime: 'first', lastTime: 'last' };

describe('the entries of a catalogue', () => {
  test.each([
    ['event', '1', 'Page view'],
    ['attr', 'amount', 'Revenue'],
    ['tag', 'vip', 'VIP'],
    ['profile', 'customer', 'Customer'],
  ] as const)('of kind %s have an ID and a name', (kind, id, name) => {
    expect(entriesOf(kind, catalogues, [])).toMatchObject([{ id, name, isListed: true }]);
  });

  test('have the counts of their events', () => {
    expect(entriesOf('event', catalogues, [uses])).toMatchObject([{ id: '1', uses: { count: 7 } }]);
  });

  test('include events whose ID is no longer listed', () => {
    const removed = { ...uses, eventID: 3, eventName: '3' };
    expect(entriesOf('event', catalogues, [uses, removed])).toMatchObject([
      { id: '1', isListed: true },
      { id: '3', name: '3', isListed: false, browser: false },
    ]);
  });
});

describe('an entry that is merged', () => {
  const merged = {
    ...catalogues,
    event: [...catalogues.event, { eventID: 17, eventName: 'Pageview', browser: true, mergedInto: 1 }],
    tag: [...catalogues.tag, { tagID: 'VIP', tagName: 'VIP', browser: true, mergedInto: 'vip' }],
  };

  test.each([
    ['event', '1', '17'],
    ['tag', 'vip', 'VIP'],
  ] as const)('of kind %s is listed with the one that stands for it, and found by its name', (kind, id, other) => {
    const entries = entriesOf(kind, merged, []);
    expect(entries).toMatchObject([{ id, merged: [{ id: other }] }]);
    expect(entriesWith(other, entries)).toHaveLength(1);
  });
});

test('has no entry merged into one whose ID is “undefined”, unless it is', () => {
  const attr = ['plan', 'undefined'].map((attrID) => ({ ...catalogues.attr[0], attrID, attrName: attrID }));
  const entries = entriesOf('attr', { ...catalogues, attr } as typeof catalogues, []);
  expect(entries.map(({ id, merged }) => [id, merged])).toEqual([
    ['plan', []],
    ['undefined', []],
  ]);
});

describe('a search', () => {
  const entry: Entry = { id: 'amount', name: 'Revenue', browser: true, isListed: true, merged: [] };

  test.each([['reven'], ['REVENUE'], ['mount'], [' amount '], ['']])('for “%s” finds an entry', (text) => {
    expect(entriesWith(text, [entry])).toEqual([entry]);
  });

  test('for another text finds nothing', () => {
    expect(entriesWith('teapot', [entry])).toEqual([]);
  });
});

describe('the request for a change', () => {
  test('names the entry as its kind does', () => {
    expect(requestFor('event', '3', { name: 'Bought' })).toEqual({ event: [{ eventID: 3, eventName: 'Bought' }] });
    expect(requestFor('attr', 'amount', { type: 'number' })).toMatchObject({
      attr: [{ attrID: 'amount', attrType: 'number' }],
    });
    expect(requestFor('tag', 'vip', { remove: true, force: true })).toMatchObject({
      tag: [{ tagID: 'vip', remove: true, force: true }],
    });
  });

  test('leaves the ID of an event to the service', () => {
    expect(requestFor('event', '', { name: 'Bought' }).event?.[0]).toMatchObject({
      eventID: undefined,
      eventName: 'Bought',
    });
  });
});

describe('a catalogue with a change', () => {
  test('has the new name and the rest as it was', () => {
    expect(withChange('event', catalogues, '1', { name: 'View' })).toEqual({
      event: [{ eventID: 1, eventName: 'View', browser: true }],
    });
  });

  test('has the new type and the new right', () => {
    expect(withChange('attr', catalogues, 'amount', { type: 'number', browser: true })).toEqual({
      attr: [{ attrID: 'amount', attrName: 'Revenue', attrType: 'number', browser: true }],
    });
  });

  test('is the same when no entry has the ID', () => {
    expect(withChange('tag', catalogues, 'other', { name: 'Other' })).toEqual({ tag: catalogues.tag });
  });
});
