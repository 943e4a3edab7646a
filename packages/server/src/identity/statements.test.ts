import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  currentStatement,
  decideClaimedLink,
  decideLink,
  decideUnlink,
  decidingStatements,
  findExcessLinks,
  linkedContact,
  type Statement,
  type StoredStatement,
} from './statements.ts';

const ann = 1;
const bob = 2;
const link = (sequence: number, contact: number, change: Partial<Statement> = {}): Statement => ({
  sequence,
  contact,
  verified: true,
  voided: false,
  ...change,
});
const unlink = (sequence: number, change: Partial<Statement> = {}): Statement => ({
  ...link(sequence, 0, change),
  contact: null,
});

const claimed = { verified: false };
const voided = { voided: true };

describe('the current statement', () => {
  test.each<[string, Statement[], Statement | undefined, number | null]>([
    ['is undefined without statements', [], undefined, null],
    ['is the only link', [link(1, ann)], link(1, ann), ann],
    ['is the switch after a link', [link(1, ann), link(5, bob)], link(5, bob), bob],
    ['is the unlink, which links to nobody', [link(1, ann), unlink(5)], unlink(5), null],
    ['is the link before a voided switch', [link(1, ann), link(5, bob, voided)], link(1, ann), ann],
    ['is the link before a voided unlink', [link(1, ann), unlink(5, voided)], link(1, ann), ann],
    ['is undefined if all are voided', [link(1, ann, voided), unlink(5, voided)], undefined, null],
  ])('%s', (_, statements, current, contact) => {
    expect(currentStatement(statements)).toEqual(current);
    expect(linkedContact(statements)).toBe(contact);
    expect(decideUnlink(statements)).toBe(contact !== null);
  });
});

describe('the deciding statements', () => {
  const cleo = 3;
  test.each<[string, Statement[], number[]]>([
    ['include claims while nothing is verified', [link(1, ann, claimed), link(5, bob, claimed)], [1, 5]],
    ['exclude claims after a verified link', [link(1, ann), link(5, bob, claimed), link(6, ann, claimed)], [1]],
    ['include a claim and a verified link after it', [link(1, ann, claimed), link(5, bob)], [1, 5]],
    ['exclude claims after two verified links', [link(1, ann), link(5, bob), link(6, cleo, claimed)], [1, 5]],
    [
      'include claims again after an unlink',
      [link(1, ann), link(3, bob, claimed), unlink(5), link(7, bob, claimed)],
      [1, 5, 7],
    ],
    ['include claims again if the verified link is voided', [link(1, ann, voided), link(5, bob, claimed)], [5]],
    ['exclude voided statements', [link(1, ann), link(3, bob, { ...claimed, ...voided }), unlink(5, voided)], [1]],
    ['exclude a claim for an erased contact after a verified link', [link(1, ann), unlink(5, claimed)], [1]],
    ['include a claim for an erased contact after another claim', [link(1, ann, claimed), unlink(5, claimed)], [1, 5]],
    ['include claims after a verified link to an erased contact', [unlink(1), link(5, bob, claimed)], [1, 5]],
  ])('%s', (_, statements, sequences) => {
    expect(decidingStatements(statements).map(({ sequence }) => sequence)).toEqual(sequences);
  });
});

describe('linking a user', () => {
  test.each<[string, Statement[], number, ReturnType<typeof decideLink>]>([
    ['who was never linked appends a link', [], ann, { do: 'append' }],
    ['to the same contact does nothing', [link(1, ann)], ann, { do: 'nothing', statement: link(1, ann) }],
    ['to another contact appends a link', [link(1, ann)], bob, { do: 'append' }],
    ['back to the contact before a switch appends a link', [link(1, ann), link(5, bob)], ann, { do: 'append' }],
    ['who was unlinked appends a link', [link(1, ann), unlink(5)], ann, { do: 'append' }],
    ['whose only link is voided appends a link', [link(1, ann, voided)], ann, { do: 'append' }],
    [
      'to the contact before a voided switch does nothing',
      [link(1, ann), link(5, bob, voided)],
      ann,
      { do: 'nothing', statement: link(1, ann) },
    ],
    [
      'verifies a claim for the same contact in place',
      [link(1, ann, claimed)],
      ann,
      { do: 'verify', statement: link(1, ann, claimed) },
    ],
    [
      'to a contact with only an ignored claim appends a link',
      [link(1, ann), link(5, bob, claimed)],
      bob,
      { do: 'append' },
    ],
    [
      'to the contact of the verified link before a claim does nothing',
      [link(1, ann), link(5, bob, claimed)],
      ann,
      { do: 'nothing', statement: link(1, ann) },
    ],
  ])('%s', (_, statements, contact, decision) => {
    expect(decideLink(statements, contact)).toEqual(decision);
  });
});

describe('a claimed link of a user', () => {
  const cleo = 3;
  const byClaim = (sequence: number, contact: number, change: Partial<Statement> = {}) => ({
    ...link(sequence, contact, { ...claimed, ...change }),
    claim: contact,
  });
  const byServer = (statement: Statement) => ({ ...statement, claim: null });
  type ClaimedStatement = Statement & { readonly claim: number | null };
  test.each<[string, ClaimedStatement[], number | null]>([
    ['is appended if it is the first', [], null],
    ['counts as a repeat of the last claim', [byClaim(1, bob), byClaim(5, ann)], 5],
    ['counts as a repeat of a claim that was verified in place', [byClaim(1, ann, { verified: true })], 1],
    ['is appended after a claim for another contact', [byClaim(1, ann), byClaim(5, bob)], null],
    ['is appended after a server’s link to the same contact', [byServer(link(1, ann))], null],
    ['counts as a repeat of a claim before a server’s link', [byClaim(1, ann), byServer(link(5, cleo))], 1],
    ['counts as a repeat of a claim after a server’s link', [byServer(link(1, ann)), byClaim(5, ann)], 5],
    ['is appended after an unlink', [byClaim(1, ann), byServer(unlink(5))], null],
    [
      'counts as a repeat of a claim if only a voided unlink came in between',
      [byClaim(1, ann), byServer(unlink(5, voided))],
      1,
    ],
    ['is appended after a voided claim', [byClaim(1, ann, voided)], null],
    [
      'is appended after a claim for an erased contact',
      [byClaim(1, ann), { ...unlink(5, claimed), claim: null }],
      null,
    ],
  ])('%s', (_, statements, repeated) => {
    const statement = statements.find(({ sequence }) => sequence === repeated);
    const decision = decideClaimedLink(statements, ({ contact }) => contact === ann);
    expect(decision).toEqual(statement ? { do: 'nothing', statement } : { do: 'append' });
  });
});

describe('the excess links', () => {
  const anyStatement = fc.record({
    contact: fc.option(fc.nat({ max: 3 })),
    verified: fc.boolean(),
    voided: fc.boolean(),
    accepted: fc.boolean(),
  });
  const anyList = fc.array(anyStatement, { maxLength: 30 }).map((entries) =>
    entries.map(({ accepted, ...statement }, nth): StoredStatement => {
      const onlyClaimed = statement.contact !== null && !statement.verified && !accepted;
      return { ...statement, sequence: nth + 1, onlyClaimed };
    }),
  );

  test('are the oldest claimed links beyond the maximum', () => {
    fc.assert(
      fc.property(anyList, fc.nat({ max: 10 }), (statements, maxLinks) => {
        const excess = findExcessLinks(statements, maxLinks);
        const remaining = statements.filter((statement) => !excess.includes(statement));
        const claimed = remaining.filter(({ onlyClaimed }) => onlyClaimed);
        expect(excess.every(({ onlyClaimed }) => onlyClaimed)).toBe(true);
        expect(claimed.length).toBe(Math.min(maxLinks, excess.length + claimed.length));
        for (const one of excess) expect(claimed.every(({ sequence }) => sequence > one.sequence)).toBe(true);
      }),
    );
  });
});
