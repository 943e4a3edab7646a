import { limits } from '@firsthand/contract/limits';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { newMigratedDatabase } from '../../../../test/fixtures/postgres/databases.ts';
import { createSite } from '../../../../test/fixtures/site.ts';
import { ann, newID, phone, tablet } from '../../../../test/fixtures/store.ts';
import { openStore } from '../../open.ts';

test('deletes the oldest claimed links, ten at a time, until a contact is back at its limit', async () => {
  const databaseURL = await newMigratedDatabase();
  const store = await openStore({ databaseURL, role: 'server', onFatal: expect.unreachable as never });
  const client = new pg.Client(databaseURL);
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await store.close();
  });
  const site = await createSite(store);
  const claim = (userUUID: string) =>
    site.browser.createContact({ userUUID, address: ann, newHandle: newID('handle') });
  await claim(phone);
  const older = limits.claimedLinksPerContact + 20;
  await client.query(
    `INSERT INTO statement ("user", sequence, account, contact, verified, voided, claim, token, erased, time)
     SELECT "user", -nth, account, contact, verified, voided, claim, token, erased, time
     FROM statement, generate_series(1, ${older}) AS nth`,
  );
  const linksAfterClaim = async (userUUID: string) => {
    await claim(userUUID);
    const { rows } = await client.query('SELECT min(sequence)::int AS oldest, count(*)::int AS links FROM statement');
    return rows[0];
  };
  const limit = limits.claimedLinksPerContact;
  expect(await linksAfterClaim(tablet)).toEqual({ oldest: -older + 10, links: limit + 12 });
  expect(await linksAfterClaim(newID('visitor'))).toEqual({ oldest: -older + 20, links: limit + 3 });
  expect(await linksAfterClaim(newID('visitor'))).toEqual({ oldest: -older + 24, links: limit });
});
