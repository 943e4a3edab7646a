import { expect, test } from 'vitest';
import { copyStore, openStore } from './open.ts';
import { StoreUnusable } from './unusable.ts';

test.each(['mysql://root:secret@localhost/shop', 'sqlite:', 'firsthand.db', ''])(
  'rejects the DATABASE_URL “%s”, describes the expected form, and does not repeat a password',
  async (databaseURL) => {
    const error = await openStore({ databaseURL, role: 'server', onFatal: () => {} }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(StoreUnusable);
    expect((error as Error).message).toMatch(/DATABASE_URL must be sqlite:<path>/);
    expect((error as Error).message).not.toContain('secret');
  },
);

test.each([
  ['postgres://localhost/shop', 'postgres://localhost/other'],
  ['sqlite:shop.db', 'sqlite:other.db'],
])('rejects a copy from %s to %s: one must be SQLite, the other PostgreSQL', async (from, to) => {
  const copying = copyStore({ from, to, onProgress: () => {} });
  await expect(copying).rejects.toThrow(StoreUnusable);
});
