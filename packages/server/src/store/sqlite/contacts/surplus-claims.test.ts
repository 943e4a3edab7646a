import { limits } from '@firsthand/contract/limits';
import { expect, test } from 'vitest';
import { dropSurplusLinks } from '../../operations/surplus-claims.ts';
import { openMemory } from '../database/memory.ts';
import { createOperationRunner } from '../transactions/operations.ts';

test('deletes the oldest claimed links, ten at a time, until a contact is back at its limit', () => {
  const db = openMemory();
  db.pragma('foreign_keys = OFF');
  const insert = db.prepare('INSERT INTO statement VALUES (?, 1, 1, ?, 0, 1, 1, 0, 0, NULL)');
  db.prepare(
    `INSERT INTO claim VALUES (1, 'handle', 1, 1, 1, 1, '{"fields":{"contactEmailaddress":"a@b"}}', 0, 0, 0, 0)`,
  ).run();
  const verified = 3;
  const count = limits.claimedLinksPerContact + 25;
  for (let sequence = 1; sequence <= verified + count; sequence += 1)
    insert.run(sequence, Number(sequence <= verified));
  const links = { holdFreeUsers: (users: readonly number[]) => new Set(users) };
  const runOperation = createOperationRunner(db);
  const oldestClaimed = () => {
    runOperation(dropSurplusLinks(links, 1, { contact: 1, claim: 1 }));
    return db.prepare('SELECT min(sequence) FROM statement WHERE NOT verified').pluck().get();
  };
  expect([oldestClaimed(), oldestClaimed(), oldestClaimed(), oldestClaimed()]).toEqual(
    [10, 20, 25, 25].map((dropped) => verified + 1 + dropped),
  );
  const left = db.prepare('SELECT count(*) FROM statement').pluck().get();
  expect(left).toBe(verified + limits.claimedLinksPerContact);
});
