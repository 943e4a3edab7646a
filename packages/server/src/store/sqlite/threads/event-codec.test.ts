import { expect, test } from 'vitest';
import { newEvent } from '../../../../test/fixtures/store.ts';
import type { EventBatch, EventOutcome, EventPage, StoredEvent } from '../../store.ts';
import {
  fromFlatEvents,
  fromFlatOutcome,
  fromFlatPage,
  toFlatEvents,
  toFlatOutcome,
  toFlatPage,
} from './event-codec.ts';

test.each<[string, EventBatch['events']]>([
  ['none', []],
  ['one without attributes', [newEvent({ attributes: [] })]],
  [
    'several',
    [
      newEvent({ contactUUID: 'contact', userUUID: null, timeReplaced: true }),
      newEvent({
        attributes: [
          ['a', ''],
          ['b', 'half \ud800'],
        ],
      }),
      newEvent({ attributes: [['c', '1']] }),
    ],
  ],
])('round-trips a batch of events: %s', (_, events) => {
  const batch: EventBatch = { account: 1, token: 2, browser: true, receivedTime: 3, isSimulated: false, events };
  expect(fromFlatEvents(structuredClone(toFlatEvents(batch)))).toStrictEqual(batch);
});

const stored = (changes: Partial<StoredEvent> = {}): StoredEvent => ({
  sequence: 1,
  eventUUID: 'event',
  eventID: 2,
  eventName: '2',
  eventTime: 3,
  receivedTime: 4,
  timeReplaced: false,
  userUUID: 'user',
  contactUUID: '',
  attributes: [],
  why: { rule: 'nobody', linkID: null, verified: null, claimID: null, mergedFrom: null },
  ...changes,
});
const linked = { rule: 'linked', linkID: '7', verified: true, claimID: 'claim', mergedFrom: 'contact' } as const;

test.each<[string, EventPage]>([
  ['with nothing', { events: [], next: null, through: 9 }],
  ['of one event', { events: [stored()], next: 5, through: 5 }],
  [
    'of several',
    {
      events: [
        stored({ timeReplaced: true, attributes: [['a', 'half \ud800']] }),
        stored({ userUUID: '', contactUUID: 'contact', why: linked }),
        stored({
          attributes: [
            ['a', ''],
            ['b', '1'],
          ],
        }),
      ],
      next: null,
      through: 7,
    },
  ],
])('round-trips a page: %s', (_, page) => {
  expect(fromFlatPage(structuredClone(toFlatPage(page)))).toStrictEqual(page);
});

test('round-trips event outcomes', () => {
  const outcomes: EventOutcome[] = [
    { kept: true },
    { kept: false, duplicate: true },
    { kept: false, refused: 'unknown_id', field: 'eventID', message: 'no such event' },
  ];
  expect(structuredClone(outcomes.map(toFlatOutcome)).map(fromFlatOutcome)).toStrictEqual(outcomes);
});
