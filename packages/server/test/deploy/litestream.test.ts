/**
 * Tests why deploy/README.md advises against Litestream: it keeps a read transaction open between its own checkpoints.
 */
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { createClient } from '@firsthand/client';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openConnection } from '../../src/store/sqlite/database/connection.ts';
import { firsthandJSON, startServer, temporaryDatabase } from '../fixtures/command.ts';
import { soon } from '../fixtures/timeouts.ts';

it('stores events during another program’s endless read, but keeps erased data in the write-ahead log', async () => {
  const { path, env } = temporaryDatabase();
  const { serverTokenUUID } = await firsthandJSON(['account', 'create', '--name', 'Shop'], env);
  const { url } = await startServer(env);
  const client = createClient({ url, token: serverTokenUUID });
  const { contactUUID } = await client.createContact({
    userUUID: 'a-browser-of-ann',
    contactEmailaddress: 'ann@shop.example',
    contactProfileID: 'customer',
  });
  const reader = openConnection(path, 'read');
  onTestFinished(() => void reader.close());
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM account').get();
  const holdsAddress = () =>
    [path, `${path}-wal`].some((file) => existsSync(file) && readFileSync(file).includes('ann@shop.example'));
  const isComplete = async () => (await client.eraseContact({ contactUUID })).complete;

  await isComplete();
  // Waits for several attempts: the server tries to empty the log every half second.
  await wait(2_000);
  expect(await client.logEvent({ eventID: 1, userUUID: 'a-browser-of-ben' })).toMatchObject({ status: '200' });
  expect([await isComplete(), holdsAddress()]).toEqual([false, true]);

  reader.exec('COMMIT');
  await vi.waitFor(async () => expect([await isComplete(), holdsAddress()]).toEqual([true, false]), soon);
});
