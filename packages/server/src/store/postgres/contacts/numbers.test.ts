/** Tests contacts whose number sequence has gone back, as happens when a coordinator is restored from a backup. */
import { expect, test } from 'vitest';
import { newMigratedDatabase, querySQL } from '../../../../test/fixtures/postgres/databases.ts';
import { createSite } from '../../../../test/fixtures/site.ts';
import { openStore } from '../../open.ts';

test('rejects a new contact whose number another contact already has, and changes nothing', async () => {
  const databaseURL = await newMigratedDatabase();
  const store = await openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
  const { server } = await createSite(store);
  const { contactUUID } = await server.createContact({ address: 'ann@example.com', userUUID: null });
  const ann = await server.getContact(contactUUID);
  await querySQL(databaseURL, `SELECT setval('contact_number', 1, false)`);
  const changes = { address: 'bob@example.com', userUUID: null, fields: { contactFirstname: 'Bob' } };
  await expect(server.createContact(changes)).rejects.toThrow(/assigned to two contacts/);
  expect(await server.getContact(contactUUID)).toEqual(ann);
  expect(await querySQL(databaseURL, 'SELECT "contactEmailaddress" AS address FROM contact_address')).toEqual([
    { address: 'ann@example.com' },
  ]);
  expect(await server.createContact(changes)).toMatchObject({ exists: false });
  await store.close();
});
