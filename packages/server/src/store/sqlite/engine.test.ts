import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newAccount, newEvent, newToken } from '../../../test/fixtures/store.ts';
import type { EventPage } from '../store.ts';
import type { Call } from './calls.ts';
import { openConnection } from './database/connection.ts';
import { ensureFile } from './database/file.ts';
import { createReadEngine, createWriteEngine } from './engine.ts';

const logOf = (count: number): Call => ({
  name: 'logEvents',
  request: {
    ...{ account: 1, token: 1, browser: false, receivedTime: 0 },
    events: Array.from({ length: count }, () => newEvent()),
  },
});

test('does not overwrite data that another process commits while the engine is created', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-'));
  const path = join(folder, 'firsthand.db');
  ensureFile(path);
  const [db, otherDB] = [openConnection(path, 'write'), openConnection(path, 'write')];
  const other = createWriteEngine(otherDB);
  other.write([{ name: 'createAccount', request: newAccount({ tokens: [newToken('server')] }) }]);
  const prepare = db.prepare.bind(db);
  let writeMeanwhile = () => {
    writeMeanwhile = () => {};
    other.write([logOf(2)]);
  };
  db.prepare = ((sql: string) => {
    // This statement is prepared after the engine has read the position.
    if (sql.includes('INSERT INTO event_block')) writeMeanwhile();
    return prepare(sql);
  }) as typeof db.prepare;
  const engine = createWriteEngine(db);
  expect(engine.write([logOf(1)])).toEqual([{ value: [{ kept: true }] }]);
  const page = await createReadEngine(db)({ name: 'getEvents', request: { account: 1, order: 'asc', limit: 10 } });
  expect((page as EventPage).events).toHaveLength(3);
  for (const each of [db, otherDB]) each.close();
  rmSync(folder, { recursive: true });
});
