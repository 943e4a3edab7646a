/** Tests the words for a webhook, and the runs of messages to resend. */
import { describe, expect, it } from 'vitest';
import { describeTypes, toRuns, type Webhook } from './webhook.ts';

describe('describeTypes', () => {
  const webhook = {
    type: ['event.logged', 'contact.merged', 'segment.left'],
    eventName: [],
    attrID: '',
    attrValue: '',
    segmentName: ['Buyers'],
  } as const;

  it.each([
    [{}, 'An event is logged'],
    [{ eventName: ['Bought', 'Returned'] }, 'An event is logged (Bought, Returned)'],
    [{ attrID: 'plan' }, 'An event is logged (with plan)'],
    [{ eventName: ['Bought'], attrID: 'plan', attrValue: 'pro' }, 'An event is logged (Bought, with plan = pro)'],
  ])('adds the conditions %j only to the event type', (conditions, words) => {
    expect(describeTypes({ ...webhook, ...conditions } as unknown as Webhook)).toEqual([
      words,
      'Two contacts are merged',
      'A contact leaves a segment (Buyers)',
    ]);
  });
});

describe('toRuns', () => {
  it('joins consecutive sequences only', () => {
    expect(toRuns([3, 4, 5, 7, 9, 10])).toEqual([
      { sequence: 3, through: 5 },
      { sequence: 7, through: 7 },
      { sequence: 9, through: 10 },
    ]);
    expect(toRuns([])).toEqual([]);
  });
});
