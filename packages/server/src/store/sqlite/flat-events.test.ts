import { expect, test } from 'vitest';
import { newEvent } from '../../../test/fixtures/store.ts';
import type { EventBatch, EventOutcome } from '../store.ts';
import { fromFlatEvents, fromFlatOutcome, toFlatEvents, toFlatOutcome } from './flat-events.ts';

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
])('a batch of events comes out as it went in: %s', (_, events) => {
  const batch: EventBatch = { account: 1, token: 2, browser: true, receivedTime: 3, events };
  expect(fromFlatEvents(structuredClone(toFlatEvents(batch)))).toStrictEqual(batch);
});

test('what became of events comes out as it went in', () => {
  const outcomes: EventOutcome[] = [
    { kept: true },
    { kept: false, duplicate: true },
    { kept: false, refused: 'unknown_id', field: 'eventID', message: 'no such event' },
  ];
  expect(structuredClone(outcomes.map(toFlatOutcome)).map(fromFlatOutcome)).toStrictEqual(outcomes);
});
