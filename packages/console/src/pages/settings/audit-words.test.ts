import { expect, test } from 'vitest';
import { type AuditEntry, detailsOf, wordsOf } from './audit-words.ts';

const entry: AuditEntry = {
  auditID: '1',
  auditTime: '2026-11-25T12:00:00.000Z',
  actor: 'command',
  action: 'voidLink',
  subject: {},
};

test('distinguishes ignoring a link from restoring it', () => {
  expect(wordsOf(entry)).toBe('Link ignored');
  expect(wordsOf({ ...entry, subject: { restore: false } })).toBe('Link ignored');
  expect(wordsOf({ ...entry, subject: { restore: true } })).toBe('Link restored');
});

test('describes what updateAccount changed, and recognizes a sign-in', () => {
  const changed = (field: string[]) => wordsOf({ ...entry, action: 'updateAccount', subject: { field } });
  expect([['contact'], ['tag', 'attr'], ['tag', 'accountName']].map(changed)).toEqual([
    'Contacts changed',
    'Catalogue changed',
    'Account changed',
  ]);
  const created = { ...entry, action: 'createToken' } as const;
  expect([wordsOf(created), wordsOf(created, true)]).toEqual(['Token created', 'Signed in']);
});

test.each([
  [{}, ''],
  [{ field: ['accountTimezone', 'tag'] }, 'time zone, tags'],
  [{ tokenID: 'abc', tokenKind: 'viewer' }, 'ann@shop.example abc (viewer)'],
  [{ linkID: '5', links: 1 }, 'link 5'],
  [{ tokenID: 'abc', links: 1 }, 'ann@shop.example abc, 1 link'],
] as const)('describes %j', (subject, details) => {
  const entryWithSubject = {
    ...entry,
    subject: { ...subject, ...('field' in subject && { field: [...subject.field] }) },
  };
  expect(detailsOf(entryWithSubject as AuditEntry, (tokenID) => `ann@shop.example ${tokenID}`)).toBe(details);
});
