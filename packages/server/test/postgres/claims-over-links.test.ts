import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copyStore, openStore } from '../../src/store/open.ts';
import { expectClaimsOverLinks, writeClaimsOverLinks } from '../claims-over-links/database.ts';
import { newMigratedDatabase } from '../fixtures/postgres/databases.ts';

test('copies a database in which claims overrode verified links, with its owners and idempotency keys', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-'));
  const path = join(folder, 'firsthand.db');
  writeClaimsOverLinks(path);
  const databaseURL = await newMigratedDatabase();
  await copyStore({ from: `sqlite:${path}`, to: databaseURL, onProgress: () => {} });
  rmSync(folder, { recursive: true });
  const store = await openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
  await expectClaimsOverLinks(store).finally(() => store.close());
});
