import { expect, test } from 'vitest';
import { copyStore, openStore } from './open.ts';
import { StoreUnusable } from './unusable.ts';

test.each(['mysql://root:secret@localhost/shop', 'sqlite:', 'firsthand.db', ''])(
  'a DATABASE_URL of “%s” is refused with what it must look like, and no password is repeated',
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
])('a copy goes from a file to PostgreSQL, or back: not from %s to %s', async (from, to) => {
  const copying = copyStore({ from, to, tell: () => {} });
  await expect(copying).rejects.toThrow(StoreUnusable);
});
