import { expect, test } from 'vitest';
import type { Entry } from './entries.ts';
import { additionOf, emptyDraft, problemIn, trimmed } from './new-entry.ts';

const listed: Entry = { id: '3', name: 'Purchased', browser: true, isListed: true, merged: [] };
const draft = { ...emptyDraft, id: 'vip', name: 'VIP' };

test('accepts an event with a name alone, and a tag with an ID alone', () => {
  expect(problemIn('event', { ...draft, id: '' }, [listed])).toBe('');
  expect(problemIn('tag', { ...draft, name: '' }, [listed])).toBe('');
});

test.each([
  ['event', { id: '3', name: '' }, 'Enter a name.'],
  ['event', { id: 'three', name: 'Three' }, 'The ID of an event is a whole number from 1 on.'],
  ['event', { id: '0', name: 'Zero' }, 'The ID of an event is a whole number from 1 on.'],
  ['event', { id: '3', name: 'Three' }, 'The ID 3 is taken by the event “Purchased”.'],
  ['event', { id: '', name: 'Purchased' }, 'There is an event “Purchased” already.'],
  ['event', { id: '', name: 'pur chased' }, 'There is an event “Purchased” already.'],
  ['tag', { id: '4', name: 'PURCHASED' }, 'There is a tag “Purchased” already.'],
  ['attr', { id: '', name: 'Product' }, 'Enter an ID.'],
] as const)('refuses %s %j', (kind, given, problem) => {
  expect(problemIn(kind, { ...emptyDraft, ...given }, [listed])).toBe(problem);
});

test('lets an ID be listed again that was removed', () => {
  expect(problemIn('event', { ...draft, id: '3' }, [{ ...listed, isListed: false }])).toBe('');
});

test('adds an attribute with its type, and leaves out a name that is not given', () => {
  expect(additionOf('attr', trimmed({ id: 'price', name: ' ', type: 'currency' }))).toEqual({ type: 'currency' });
  expect(additionOf('tag', trimmed({ id: 'vip', name: ' VIP ', type: 'text' }))).toEqual({ name: 'VIP' });
});
