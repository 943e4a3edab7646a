import { expect, it } from 'vitest';
import { rowBytes } from '../../store/rules/row-bytes.ts';
import { storedBytes } from './call-cost.ts';

const { event, user, contact } = rowBytes;
const empty = 2;

it.each([
  ['an event', storedBytes('logEvent', {}, undefined), empty + event + user],
  ['a batch of one user', storedBytes('logEvents', {}, [{}, {}, null, 7]), empty + 4 * event + user],
  [
    'a batch of several users',
    storedBytes('logEvents', {}, [{ userUUID: 'a' }, { userUUID: 'b' }, { userUUID: 'b' }]),
    empty + 3 * event + 2 * user,
  ],
  ['a contact', storedBytes('createContact', {}, undefined), empty + user + contact],
  ['non-ASCII text, in UTF-8', storedBytes('createContact', { a: '日' }, undefined), 9 + 2 + user + contact],
])('counts the bytes of %s', (_, counted, expected) => {
  expect(counted).toBe(expected);
});
