import { describe, expect, test } from 'vitest';
import { type Entry, entriesOf, requestFor, searchEntries, withChange } from './entries.ts';

const catalogues = {
  event: [{ eventID: 1, eventName: 'Page view', browser: true }],
  attr: [{ attrID: 'amount', attrName: 'Revenue', attrType: 'currency' as const, browser: false }],
  tag: [{ tagID: 'vip', tagName: 'VIP', browser: true }],
  profile: [{ profileID: 'customer', profileName: 'Customer', browser: true }],
};
const uses = { eventID: 1, eventName: 'Page view', count: 7, firstTime: 'first', lastTime: 'last' };

describe('entriesOf', () => {
  test.each([
    ['event', '1', 'Page view'],
    ['attr', 'amount', 'Revenue'],
    ['tag', 'vip', 'VIP'],
    ['profile', 'customer', 'Customer'],
  ] as const)('returns the ID and name of a %s', (kind, id, name) => {
    expect(entriesOf(kind, catalogues, [])).toMatchObject([{ id, name, isListed: true }]);
  });

  test('adds the counts to events', () => {
    expect(entriesOf('event', catalogues, [uses])).toMatchObject([{ id: '1', uses: { count: 7 } }]);
  });

  test('includes events whose ID is no longer listed', () => {
    const removed = { ...uses, eventID: 3, eventName: '3' };
    expect(entriesOf('event', catalogues, [uses, removed])).toMatchObject([
      { id: '1', isListed: true },
      { id: '3', name: '3', isListed: false, browser: false },
    ]);
  });
});

describe('a merged entry', () => {
  const merged = {
    ...catalogues,
    event: [...catalogues.event, { eventID: 17, eventName: 'Pageview', browser: true, mergedInto: 1 }],
    tag: [...catalogues.tag, { tagID: 'VIP', tagName: 'VIP', browser: true, mergedInto: 'vip' }],
  };

  test.each([
    ['event', '1', '17'],
    ['tag', 'vip', 'VIP'],
  ] as const)('is nested in the %s that it was merged into, and matched by a search', (kind, id, other) => {
    const entries = entriesOf(kind, merged, []);
    expect(entries).toMatchObject([{ id, merged: [{ id: other }] }]);
    expect(searchEntries(other, entries)).toHaveLength(1);
  });
});

test('does not treat an entry with the ID “undefined” as a merge target', () => {
  const attr = ['plan', 'undefined'].map((attrID) => ({ ...catalogues.attr[0], attrID, attrName: attrID }));
  const entries = entriesOf('attr', { ...catalogues, attr } as typeof catalogues, []);
  expect(entries.map(({ id, merged }) => [id, merged])).toEqual([
    ['plan', []],
    ['undefined', []],
  ]);
});

describe('searchEntries', () => {
  const entry: Entry = { id: 'amount', name: 'Revenue', browser: true, isListed: true, merged: [] };

  test.each([['reven'], ['REVENUE'], ['mount'], [' amount '], ['']])('matches an entry by “%s”', (text) => {
    expect(searchEntries(text, [entry])).toEqual([entry]);
  });

  test('returns nothing for text that no entry contains', () => {
    expect(searchEntries('teapot', [entry])).toEqual([]);
  });
});

describe('requestFor', () => {
  test('uses the field names of the kind', () => {
    expect(requestFor('event', '3', { name: 'Bought' })).toEqual({ event: [{ eventID: 3, eventName: 'Bought' }] });
    expect(requestFor('attr', 'amount', { type: 'number' })).toMatchObject({
      attr: [{ attrID: 'amount', attrType: 'number' }],
    });
    expect(requestFor('tag', 'vip', { remove: true, force: true })).toMatchObject({
      tag: [{ tagID: 'vip', remove: true, force: true }],
    });
  });

  test('omits an event’s empty ID, so that the service assigns one', () => {
    expect(requestFor('event', '', { name: 'Bought' }).event?.[0]).toMatchObject({
      eventID: undefined,
      eventName: 'Bought',
    });
  });
});

describe('withChange', () => {
  test('changes only the name', () => {
    expect(withChange('event', catalogues, '1', { name: 'View' })).toEqual({
      event: [{ eventID: 1, eventName: 'View', browser: true }],
    });
  });

  test('changes the type and whether browser tokens may use the entry', () => {
    expect(withChange('attr', catalogues, 'amount', { type: 'number', browser: true })).toEqual({
      attr: [{ attrID: 'amount', attrName: 'Revenue', attrType: 'number', browser: true }],
    });
  });

  test('changes nothing if no entry has the ID', () => {
    expect(withChange('tag', catalogues, 'other', { name: 'Other' })).toEqual({ tag: catalogues.tag });
  });
});
