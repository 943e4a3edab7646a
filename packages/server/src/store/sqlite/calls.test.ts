import { beforeEach, expect, test } from 'vitest';
import type { Connection } from './database/connection.ts';
import { openMemory } from './database/memory.ts';
import { createReadEngine, createWriteEngine } from './engine.ts';

let db: Connection;
beforeEach(() => {
  db = openMemory();
});

test.each(['logEvent', 'listAccounts', 'toString'])('rejects the unknown write %s', (name) => {
  const [outcome] = createWriteEngine(db).write([{ name, request: undefined }]);
  expect(outcome).toEqual({ error: new TypeError(`unknown store operation: ${name}`) });
});

test.each(['getAccounts', 'logEvents', 'toString'])('rejects the unknown read %s', async (name) => {
  const read = createReadEngine(db)({ name, request: undefined });
  await expect(read).rejects.toThrow(`unknown store operation: ${name}`);
});
