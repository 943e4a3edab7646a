// Tests that CSV downloads are complete for 100,000 people (with FAULTS=full), and are visibly broken if they end
// early.
import { createClient } from '@firsthand/client';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryDatabase } from '../fixtures/command.ts';
import { createAccount, serveHere } from '../fixtures/serving.ts';
import { times } from '../tools/counts.ts';

const people = times({ quick: 20_000, full: 100_000 });
const perBatch = 1_000;

const open = async () => {
  const { url } = await serveHere(temporaryDatabase(onTestFinished).env);
  const { serverTokenUUID: token } = await createAccount(url);
  return { url, token, client: createClient({ url, token }) };
};

test(`lists each of ${people} people once in a CSV file, with as many rows as the report counts`, async () => {
  const { client } = await open();
  for (let from = 0; from < people; from += perBatch)
    await client.logEvents({
      event: Array.from({ length: perBatch }, (_, nth) => ({
        eventID: 1,
        userUUID: `visitor-of-a-test-${from + nth}`,
      })),
    });
  const request = { from: '2020-01-01' };
  const { total } = await client.reportTotals(request, { timeoutMs: 120_000 });
  expect(total.people).toBe(people);
  const stream = await client.csv('reportPeople', request, { timeoutMs: 120_000 });
  const text = await new Response(stream).text();
  const [head = '', ...rows] = text.split('\r\n').slice(0, -1);
  expect(rows).toHaveLength(total.people);
  const column = head.split(',').indexOf('userUUID');
  expect(new Set(rows.map((row) => row.split(',')[column])).size).toBe(people);
});

test('breaks the connection when the token is revoked before the last page', async () => {
  const { url, client } = await open();
  const contact = (nth: number) => ({
    contactProfileID: 'customer',
    contactExternalID: `customer-${nth}`,
    contactFirstname: 'x'.repeat(255),
    contactLastname: 'x'.repeat(255),
  });
  for (let from = 0; from < 20 * perBatch; from += perBatch)
    await client.createContacts({ contact: Array.from({ length: perBatch }, (_, nth) => contact(from + nth)) });
  const { tokenID, tokenUUID: token } = await client.createToken({ tokenKind: 'viewer' });
  // Reads more than the socket buffers hold, so that the server reads the last pages only when the client continues to
  // read.
  const reader = (await createClient({ url, token }).csv('searchContact', {})).getReader();
  await reader.read();
  await client.revokeToken({ tokenID });
  const readAll = async () => {
    while (!(await reader.read()).done);
  };
  await expect(readAll()).rejects.toThrow();
});
