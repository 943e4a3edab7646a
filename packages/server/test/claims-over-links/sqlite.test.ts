import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore } from '../../src/store/open.ts';
import { expectClaimsOverLinks, writeClaimsOverLinks } from './database.ts';

test('a database with claims over verified links is brought up to date, and only what they displaced has another owner', async () => {
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
