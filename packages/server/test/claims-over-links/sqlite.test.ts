import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore } from '../../src/store/open.ts';
import { expectClaimsOverLinks, writeClaimsOverLinks } from './database.ts';

test('migrates a database in which claims overrode verified links, and changes only those owners', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-'));
  const path = join(folder, 'firsthand.db');
  writeClaimsOverLinks(path);
  const onFatal = expect.unreachable as never;
  const store = await openStore({ databaseURL: `sqlite:${path}`, role: 'server', onFatal });
  try {
    await expectClaimsOverLinks(store);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
});
