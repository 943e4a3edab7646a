import { robotMark } from '@firsthand/contract/identifiers';
import { labelIDs } from '@firsthand/contract/labels';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkUses, isSettled, type Listed, registerUses, usesOfEvent } from './catalogue-rules.ts';
import { toCatalogueMerges } from './entry-merges.ts';

const listed: fc.Arbitrary<Listed> = fc.record({
  forBrowsers: fc.boolean(),
  byBrowser: fc.boolean(),
  isNamedEvent: fc.boolean(),
});
const entries = (ids: readonly string[]) =>
  fc.array(fc.tuple(fc.constantFrom(...ids), listed), { maxLength: 4 }).map((some) => new Map(some));
const attributeIDs = ['1', '2', 'plan', labelIDs.os, robotMark.attrID];

test('treats an event as settled only if all its uses are allowed and none must be added to the catalogue', () => {
  const counts = { settled: 0, allowed: 0, refused: 0, listing: 0 };
  fc.assert(
    fc.property(
      fc.record({ strict: fc.boolean(), browserCatalogue: fc.boolean() }),
      entries(['1', '2']),
      entries(attributeIDs),
      fc.boolean(),
      fc.record({
        kind: fc.constantFrom(
          { eventID: 1, eventName: null },
          { eventID: 2, eventName: null },
          { eventID: null, eventName: 'Bought' },
          { eventID: null, eventName: 'New' },
        ),
        mayAddName: fc.boolean(),
        attributes: fc.array(fc.tuple(fc.constantFrom(...attributeIDs), fc.constant('')), { maxLength: 3 }),
      }),
      (settings, event, attr, browser, { kind, ...rest }) => {
        const listed = { profile: new Map(), tag: new Map(), event, attr };
        const eventIDs = new Map(event.has('2') ? [['Bought', '2']] : []);
        const ids = {
          ...settings,
          listed,
          merges: toCatalogueMerges([]),
          eventIDs,
          nextEventID: 1_000_000,
          hasEvents: () => false,
        };
        const sent = { ...kind, ...rest };
        const settled = isSettled(ids, browser, sent);
        const uses = usesOfEvent(sent);
        let outcome: keyof typeof counts = settled ? 'settled' : 'allowed';
        try {
          checkUses(ids, browser, uses);
          if (registerUses(ids, browser, uses).length > 0) outcome = 'listing';
        } catch {
          outcome = 'refused';
        }
        counts[outcome] += 1;
        if (settled) expect(outcome).toBe('settled');
      },
    ),
    { numRuns: 1_000 },
  );
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(20);
});
