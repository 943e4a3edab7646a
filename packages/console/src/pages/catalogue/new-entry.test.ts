import { expect, test } from 'vitest';
import type { Entry } from './entries.ts';
import { emptyDraft, problemIn, toAddition, trimmed } from './new-entry.ts';

const listed: Entry = { id: '3', name: 'Purchased', browser: true, isListed: true, merged: [] };
const draft = { ...emptyDraft, id: 'vip', name: 'VIP' };

test('accepts an event without an ID, and a tag without a name', () => {
  expect(problemIn('event', { ...draft, id: '' }, [listed])).toBe('');
  expect(problemIn('tag', { ...draft, name: '' }, [listed])).toBe('');
});

test.each([
  ['event', { id: '3', name: '' }, 'Enter a name.'],
  ['event', { id: 'three', name: 'Three' }, 'An event ID must be a whole number, 1 or greater.'],
  ['event', { id: '0', name: 'Zero' }, 'An event ID must be a whole number, 1 or greater.'],
  ['event', { id: '3', name: 'Three' }, 'The ID 3 is already used by the event “Purchased”.'],
  ['event', { id: '', name: 'Purchased' }, 'There is already an event named “Purchased”.'],
  ['event', { id: '', name: 'pur chased' }, 'There is already an event named “Purchased”.'],
  ['tag', { id: '4', name: 'PURCHASED' }, 'There is already a tag named “Purchased”.'],
  ['attr', { id: '', name: 'Product' }, 'Enter an ID.'],
] as const)('refuses %s %j', (kind, fields, problem) => {
  expect(problemIn(kind, { ...emptyDraft, ...fields }, [listed])).toBe(problem);
});

test('accepts a removed entry’s ID', () => {
  expect(problemIn('event', { ...draft, id: '3' }, [{ ...listed, isListed: false }])).toBe('');
});

test('adds an attribute with its type, and omits an empty name', () => {
  expect(toAddition('attr', trimmed({ id: 'price', name: ' ', type: 'currency' }))).toEqual({ type: 'currency' });
  expect(toAddition('tag', trimmed({ id: 'vip', name: ' VIP ', type: 'text' }))).toEqual({ name: 'VIP' });
});
