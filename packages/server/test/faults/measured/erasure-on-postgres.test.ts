// Erases contacts with many claims on PostgreSQL while other clients write and add claims to the same contacts.
import { setTimeout as wait } from 'node:timers/promises';
import { limits } from '@firsthand/contract/limits';
import { expect, test } from 'vitest';
import { quantile, times } from '../../tools/counts.ts';
import { freePort } from '../../tools/ports.ts';
import { report } from '../../tools/report.ts';
import { browserToken, startServerProcess, stopServerProcess, withoutLimits } from '../../tools/server-process.ts';
import { changeServer } from '../../tools/weakened-server.ts';
import { erasingAloneOnPostgres } from '../../weaknesses/store.ts';
import { useOwnPostgres } from '../tools/own-postgres.ts';

const contacts = times({ quick: 2, full: 10 });
const claims = times({ quick: 300, full: limits.claimsPerContact });
const writers = 2;
const batchSize = 50;

const postgres = useOwnPostgres();

const addressOf = (contact: number) => `ann-${contact}@shop.example`;

interface Write {
  readonly began: number;
  readonly ended: number;
}
const durationOf = ({ began, ended }: Write): number => ended - began;

const eraseContacts = async (name: string, main?: string) => {
  const { databaseURL, token: serverToken } = await postgres.createDatabase(name);
  const env = { DATABASE_URL: databaseURL, RATE_LIMIT: withoutLimits() };
  const served = await startServerProcess('', await freePort(), { main, env });
  const post = async (at: string, fields: object) => {
    const response = await fetch(`${served.url}${at}`, { method: 'POST', body: JSON.stringify(fields) });
    const body = (await response.json()) as { contactUUID: string };
    expect([at, response.status]).toEqual([at, 200]);
    return body;
  };
  const createContact = (tokenUUID: string, userUUID: string, contactEmailaddress: string) =>
    post('/createContact', { tokenUUID, userUUID, contactEmailaddress, contactProfileID: 'customer' });
  const claim = (userUUID: string, contact: number) => createContact(browserToken, userUUID, addressOf(contact));

  const contactUUIDs: string[] = [];
  for (let contact = 0; contact < contacts; contact += 1) {
    for (let at = 0; at < claims; at += batchSize) {
      await Promise.all(
        Array.from({ length: batchSize }, (_, nth) => claim(`visitor-of-${contact}-number-${at + nth}`, contact)),
      );
    }
    contactUUIDs.push((await createContact(serverToken, 'another-visitor-1', addressOf(contact))).contactUUID);
  }

  let isOver = false;
  const writes: Write[] = [];
  /** Writes for users and contacts that have nothing to do with the erased contacts. */
  const write = async (writer: number) => {
    for (let nth = 0; !isOver; nth += 1) {
      const began = performance.now();
      const userUUID = `stranger-number-${writer}-${nth}`;
      if (writer % 2) await post('/logEvent', { tokenUUID: browserToken, userUUID, eventID: 1 });
      else await createContact(browserToken, userUUID, `${userUUID}@else.example`);
      writes.push({ began, ended: performance.now() });
    }
  };
  const writing = Array.from({ length: writers }, (_, writer) => write(writer));
  const claimMore = (kind: string, contact: number) =>
    Promise.all(Array.from({ length: 8 }, (_, nth) => claim(`${kind}-visitor-of-${contact}-${nth}`, contact)));
  const erasures: Write[] = [];
  const withoutErasure: number[] = [];
  for (const [contact, contactUUID] of contactUUIDs.entries()) {
    await wait(300);
    withoutErasure.push(performance.now());
    await claimMore('early', contact);
    await wait(300);
    const began = performance.now();
    const erasing = post('/contact/eraseContact', { tokenUUID: serverToken, contactUUID });
    const claiming = claimMore('late', contact);
    await erasing;
    erasures.push({ began, ended: performance.now() });
    await claiming;
  }
  isOver = true;
  await Promise.all(writing);
  await stopServerProcess(served);

  /** Returns the duration of the longest write that overlaps this period. */
  const longestIn = (began: number, ended: number) =>
    Math.max(0, ...writes.filter((write) => write.began < ended && write.ended > began).map(durationOf));
  const isWithin = (write: Write) => erasures.some(({ began, ended }) => write.began > began && write.ended < ended);
  return {
    erasure: quantile(erasures.map(durationOf), 0.5),
    writesDuring: writes.filter(isWithin).length / contacts,
    longest: quantile(
      erasures.map(({ began, ended }) => longestIn(began, ended)),
      0.5,
    ),
    withoutErasureMs: quantile(
      erasures.map((erasure, nth) => {
        const began = withoutErasure[nth] as number;
        return longestIn(began, began + durationOf(erasure));
      }),
      0.5,
    ),
  };
};

test('lets others write while a contact with many claims is erased, even while new claims for it arrive', async (context) => {
  const ours = await eraseContacts('ours');
  const weakened = await eraseContacts('weakened', changeServer(postgres.folder(), 'alone', erasingAloneOnPostgres));
  expect(ours.writesDuring).toBeGreaterThan(weakened.writesDuring);
  const describeCost = ({ erasure, writesDuring, longest, withoutErasureMs }: typeof ours) =>
    [
      `eraseContact ${erasure.toFixed(0)} ms, with ${writesDuring.toFixed(1)} other writes during it`,
      `longest other write ${longest.toFixed(0)} ms, ${withoutErasureMs.toFixed(0)} ms without an erasure (medians)`,
    ].join('; ');
  report(context, {
    fault: 'erasure on PostgreSQL',
    count: `${contacts} contacts with ${claims} claims, and 8 more claims during each erasure`,
    result: describeCost(ours),
    weakened: `all other writes wait for it: ${describeCost(weakened)}`,
  });
});
