import { describe, expect, test } from 'vitest';
import { type Stretch, stretchesOf, stretchesOwnedBy, why } from './ownership.ts';
import type { Statement } from './statements.ts';

const ann = 1;
const bob = 2;
const link = (sequence: number, contact: number, voided = false): Statement => ({
  sequence,
  contact,
  verified: true,
  voided,
});
const claim = (sequence: number, contact: number, voided = false): Statement => ({
  ...link(sequence, contact, voided),
  verified: false,
});
const unlink = (sequence: number, voided = false): Statement => ({ sequence, contact: null, verified: true, voided });

const ownerOf = (...event: Parameters<typeof why>) => why(...event).owner;

// Events are logged at 5, 15, 25 and 35; statements are at 10, 20 and 30.
const cases: [string, Statement[], (number | null)[]][] = [
  ['is nobody without statements', [], [null, null, null, null]],
  ['is the contact of the first link, even for earlier events', [link(10, ann)], [ann, ann, ann, ann]],
  ['does not change for past events after a switch', [link(10, ann), link(20, bob)], [ann, ann, bob, bob]],
  ['follows a switch and a switch back', [link(10, ann), link(20, bob), link(30, ann)], [ann, ann, bob, ann]],
  ['is nobody after an unlink', [link(10, ann), unlink(20)], [ann, ann, null, null]],
  [
    'is the contact of a link after an unlink, but only back to the unlink',
    [link(10, ann), unlink(20), link(30, bob)],
    [ann, ann, bob, bob],
  ],
  ['is nobody if the first link is voided', [link(10, ann, true)], [null, null, null, null]],
  [
    'is the contact of the next link if the first is voided',
    [link(10, ann, true), link(20, bob)],
    [bob, bob, bob, bob],
  ],
  ['returns to the previous contact if a switch is voided', [link(10, ann), link(20, bob, true)], [ann, ann, ann, ann]],
  ['is not affected by a voided unlink', [link(10, ann), unlink(20, true), link(30, bob)], [ann, ann, ann, bob]],
  [
    'is nobody, not the next link’s contact, if the link before an unlink is voided',
    [link(10, ann, true), unlink(20), link(30, bob)],
    [null, null, bob, bob],
  ],
  ['is nobody after a link to an erased contact', [unlink(10), unlink(20), link(30, bob)], [null, null, bob, bob]],
  ['is not affected by a claim after a verified link', [link(10, ann), claim(20, bob)], [ann, ann, ann, ann]],
  ['is the contact of the latest claim', [claim(10, ann), claim(20, bob)], [ann, ann, bob, bob]],
  ['is the contact of a claim until a verified link', [claim(10, ann), link(20, bob)], [ann, ann, bob, bob]],
  ['is the contact of a claim after an unlink', [link(10, ann), unlink(20), claim(30, bob)], [ann, ann, bob, bob]],
  [
    'is not the contact of a claim between a verified link and an unlink',
    [link(10, ann), claim(20, bob), unlink(30)],
    [ann, ann, ann, null],
  ],
  [
    'is the contact of a claim if the verified link before it is voided',
    [link(10, ann, true), claim(20, bob)],
    [bob, bob, bob, bob],
  ],
  [
    'is the contact of a claim up to the next verified link',
    [link(10, ann, true), claim(20, bob), link(30, ann)],
    [bob, bob, bob, ann],
  ],
  [
    'is not affected by several voided statements in a row',
    [link(10, ann), link(20, bob, true), unlink(30, true)],
    [ann, ann, ann, ann],
  ],
];

describe('the owner of an event', () => {
  test.each(cases)('%s', (_, statements, owners) => {
    expect([5, 15, 25, 35].map((sequence) => ownerOf({ sequence, contact: null }, statements))).toEqual(owners);
  });

  test('is the contact that it was logged with, regardless of its user', () => {
    expect(ownerOf({ sequence: 15, contact: bob }, [link(10, ann)])).toBe(bob);
    expect(ownerOf({ sequence: 15, contact: bob }, [])).toBe(bob);
  });

  test('is the contact that the original owner was merged into', () => {
    const follow = (contact: number) => (contact === ann ? bob : contact);
    expect(ownerOf({ sequence: 15, contact: null }, [link(10, ann)], follow)).toBe(bob);
    expect(ownerOf({ sequence: 5, contact: ann }, [], follow)).toBe(bob);
    expect(ownerOf({ sequence: 5, contact: null }, [], follow)).toBeNull();
  });

  test('is found among thousands of statements', () => {
    const statements = Array.from({ length: 5000 }, (_, index) => link((index + 1) * 10, index));
    expect([5, 15, 25, 49995, 60000].map((sequence) => ownerOf({ sequence, contact: null }, statements))).toEqual([
      0, 0, 1, 4998, 4999,
    ]);
  });
});

describe('why', () => {
  test('returns no statement for an event logged with its contact', () => {
    expect(why({ sequence: 15, contact: bob }, [link(10, ann)])).toEqual({
      rule: 'logged with the contact',
      owner: bob,
      statement: null,
      mergedFrom: null,
    });
  });

  test('returns the link before a linked user’s event', () => {
    const statements = [link(10, ann), link(20, bob)];
    const decided = why({ sequence: 15, contact: null }, statements);
    expect(decided).toEqual({ rule: 'linked', owner: ann, statement: statements[0], mergedFrom: null });
    expect(decided.statement).toBe(statements[0]);
  });

  test('returns the link that reached back to an anonymous event', () => {
    const statements = [unlink(10), link(20, bob)];
    expect(why({ sequence: 15, contact: null }, statements)).toEqual({
      rule: 'reached back',
      owner: bob,
      statement: statements[1],
      mergedFrom: null,
    });
  });

  test('returns the unlink before an event without an owner, if there is one', () => {
    const statements = [link(10, ann), unlink(20)];
    const nobody = { rule: 'nobody', owner: null, mergedFrom: null };
    expect(why({ sequence: 25, contact: null }, statements)).toEqual({ ...nobody, statement: statements[1] });
    expect(why({ sequence: 25, contact: null }, [])).toEqual({ ...nobody, statement: null });
  });

  test('returns the contact before a merge', () => {
    const statements = [link(10, ann)];
    expect(why({ sequence: 15, contact: null }, statements, () => bob)).toEqual({
      rule: 'linked',
      owner: bob,
      statement: statements[0],
      mergedFrom: ann,
    });
  });
});

describe('stretches', () => {
  test('are a single stretch without an owner if there are no statements', () => {
    expect(stretchesOf([])).toEqual<Stretch[]>([
      { after: 0, through: Infinity, contact: null, statement: null, reason: 'nobody' },
    ]);
  });

  test('are split only by deciding statements', () => {
    const first = link(10, ann);
    const gone = unlink(20);
    const again = link(40, bob);
    expect(stretchesOf([first, gone, link(30, ann, true), again])).toEqual<Stretch[]>([
      { after: 0, through: 10, contact: ann, statement: first, reason: 'reached back' },
      { after: 10, through: 20, contact: ann, statement: first, reason: 'linked' },
      { after: 20, through: 40, contact: bob, statement: again, reason: 'reached back' },
      { after: 40, through: Infinity, contact: bob, statement: again, reason: 'linked' },
    ]);
  });

  test('end with a stretch without an owner after an unlink', () => {
    const gone = unlink(20);
    expect(stretchesOf([link(10, ann), gone]).at(-1)).toEqual<Stretch>({
      after: 20,
      through: Infinity,
      contact: null,
      statement: gone,
      reason: 'nobody',
    });
  });

  test('with the same owners are joined if adjacent, and end at the last sequence', () => {
    const statements = [link(10, ann), claim(20, bob, true), unlink(30), claim(40, bob), link(50, ann)];
    expect(stretchesOwnedBy([ann], statements)).toEqual([
      { after: 0, through: 30 },
      { after: 50, through: Infinity },
    ]);
    expect(stretchesOwnedBy([bob], statements)).toEqual([{ after: 30, through: 50 }]);
    expect(stretchesOwnedBy([bob], statements, { last: 45 })).toEqual([{ after: 30, through: 45 }]);
    expect(stretchesOwnedBy([bob], statements, { last: 30 })).toEqual([]);
    expect(stretchesOwnedBy([bob], statements, { verifiedOnly: true })).toEqual([]);
    expect(stretchesOwnedBy([ann, bob], statements, { last: 60 })).toEqual([{ after: 0, through: 60 }]);
    expect(stretchesOwnedBy([ann, bob], statements, { verifiedOnly: true })).toEqual([
      { after: 0, through: 30 },
      { after: 50, through: Infinity },
    ]);
  });
});
