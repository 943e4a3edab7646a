import { expect, it } from 'vitest';
import { newContact, newEvent } from '../../../test/fixtures/store.ts';
import type { Call } from './calls.ts';
import type { PlainOutcome } from './messages.ts';
import { packCalls, packOutcomes, unpackCalls, unpackOutcomes } from './parcels.ts';

const calls: readonly Call[] = [
  {
    name: 'logEvents',
    request: {
      account: 1,
      token: 2,
      browser: true,
      receivedTime: 3,
      events: [newEvent(), newEvent({ userUUID: 'ü💧' })],
    },
  },
  { name: 'createContact', request: newContact() },
];

it('hold calls as they were', () => {
  expect(unpackCalls(packCalls(calls))).toEqual(calls);
});

it('hold what became of them', () => {
  const outcomes: readonly PlainOutcome[] = [
    { value: [{ kept: true }, { kept: false, duplicate: true }] },
    { refusal: ['email_taken' as never, { message: 'taken', field: 'contactEmailaddress' }] },
  ];
  expect(unpackOutcomes(calls, packOutcomes(calls, outcomes))).toEqual(outcomes);
});

it('can be handed to another thread', () => {
  const parcel = packCalls(calls);
  const { length } = parcel;
  const moved = structuredClone(parcel, { transfer: [parcel.buffer] });
  expect([parcel.length, moved.length]).toEqual([0, length]);
});
