import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createClient } from '@firsthand/client';
import { expect, it } from 'vitest';
import { firsthand, firsthandJSON, spawnFirsthand, temporaryDatabase } from '../fixtures/command.ts';
import { createAccount, serveHere, userUUID } from '../fixtures/serving.ts';

const setUp = async () => {
  const { env, path } = temporaryDatabase();
  const account = await firsthandJSON(['account', 'create', '--name', 'Shop'], env);
  const { accountUUID, serverTokenUUID: token, browserTokenUUID: browser } = account;
  const { url } = await serveHere(env);
  const client = createClient({ url, token });
  const post = (operation: string, fields: object) =>
    fetch(`${url}${operation}`, { method: 'POST', body: JSON.stringify(fields) });
  return { env, path, accountUUID, token, browser, client, post };
};

it('lists refused requests, and replays them while a server is under load', async () => {
  const { env, accountUUID, token, browser, client, post } = await setUp();
  await post('/account/updateAccount', { tokenUUID: token, strict: true, event: [{ eventID: 1 }] });
  const count = 40;
  for (let event = 0; event < count; event += 1) {
    const tokenUUID = event % 2 === 0 ? token : browser;
    expect((await post('/logEvent', { tokenUUID, userUUID, eventID: 2, eventUUID: `refused-${event}` })).status).toBe(
      400,
    );
  }
  const list = await firsthand(['refused', 'list', '--account', accountUUID, '--json'], env);
  const { refused, count: counts } = JSON.parse(list.stdout);
  expect(refused).toHaveLength(count);
  expect(refused[0]).toEqual({
    refusedID: expect.any(String),
    accountUUID,
    tokenID: expect.any(String),
    tokenKind: 'server',
    operation: 'logEvent',
    refusedTime: expect.stringMatching(/Z$/),
    error: { code: 'unknown_id', message: expect.any(String), field: 'eventID' },
    input: { userUUID, eventID: 2, eventUUID: 'refused-0' },
  });
  expect(counts).toMatchObject([
    { tokenKind: 'browser', listed: 20, evicted: 0, erased: 0, replayed: 0 },
    { tokenKind: 'server', listed: 20 },
  ]);
  const text = await firsthand(['refused', 'list'], env);
  expect(text.stdout).toMatch(/^REFUSED ID +TIME +TOKEN +OPERATION +WHY +REQUEST\n/);
  for (const { stdout } of [list, text]) expect(stdout).not.toMatch(/(?:browser|server)_[\w-]{8}/);

  const tooEarly = await firsthand(['refused', 'replay', refused[0].refusedID], env);
  expect({ code: tooEarly.code, stdout: tooEarly.stdout }).toEqual({
    code: 1,
    stdout: expect.stringMatching(/^\d+: `eventID`[^\n]+\n0 resent, 1 failed\n$/),
  });
  const replayFixed = ['refused', 'replay', refused[0].refusedID, '--with', '{"eventID":1}'];
  expect(await firsthandJSON(replayFixed, env)).toEqual({
    replayed: 1,
    result: [{ refusedID: refused[0].refusedID, answer: { eventUUID: 'refused-0' } }],
  });

  await client.updateAccount({ strict: false });
  let sent = 0;
  let stopped = false;
  const load = async () => {
    for (; !stopped; sent += 1) await client.logEvent({ userUUID: `${userUUID}-${sent % 7}`, eventID: 1 });
  };
  const loads = [load(), load(), load()];
  const replay = ['refused', 'replay', '--all', '--account', accountUUID, '--json'];
  const replays = await Promise.all([1, 2].map(() => spawnFirsthand(replay, env).ended));
  stopped = true;
  await Promise.all(loads);
  const replayedCounts = replays.map(({ stdout }) => JSON.parse(stdout).replayed as number);
  expect(replayedCounts.reduce((sum, replayed) => sum + replayed)).toBe(count - 1);

  const { event } = await client.getEvent({ userUUID, limit: 1_000 });
  expect(event.map(({ eventUUID }) => eventUUID).sort()).toEqual(
    refused.map(({ input }: { input: { eventUUID: string } }) => input.eventUUID).sort(),
  );
  const times = new Map(
    refused.map(({ input, refusedTime }: { input: { eventUUID: string }; refusedTime: string }) => [
      input.eventUUID,
      refusedTime,
    ]),
  );
  for (const { eventUUID, eventTime } of event) expect(eventTime).toBe(times.get(eventUUID));
  const { account } = await client.getAccount({});
  expect(account.usage.events).toBe(sent + count);
  expect((await firsthandJSON(['refused', 'list'], env)).refused).toEqual([]);
});

it('leaves no byte of an erased contact in the list of refused requests', async () => {
  const { path, client, post, token, browser } = await setUp();
  const contact = { contactEmailaddress: 'zoe.unforgettable@shop.example', contactFirstname: 'Zoeunforgettable' };
  const { contactUUID } = await client.createContact({ userUUID, ...contact, contactProfileID: 'customer' });
  await post('/createContact', { tokenUUID: browser, userUUID, ...contact });
  await post('/createContact', { tokenUUID: token, ...contact });
  await post('/contact/updateContact', {
    tokenUUID: token,
    contactUUID,
    contactAttr: [{ attrID: 'x', attrValue: 5 }, 'unforgettable value'],
  });
  await post('/event/logEvents', { tokenUUID: token, contactUUID, event: [{ eventID: 'unforgettable event' }] });
  const holding = () =>
    readdirSync(dirname(path)).filter((name) =>
      /unforgettable/i.test(readFileSync(join(dirname(path), name), 'latin1')),
    );
  expect(holding()).not.toEqual([]);
  await client.eraseContact({ contactUUID });
  await expect.poll(holding).toEqual([]);
});

it('replays a revoked token’s requests with the token that --as specifies', async () => {
  const { env } = temporaryDatabase();
  const { url } = await serveHere(env);
  const { serverTokenUUID } = await createAccount(url);
  const client = createClient({ url, token: serverTokenUUID });
  const own = await client.createToken({ tokenKind: 'browser' });
  const other = await client.createToken({ tokenKind: 'browser' });
  const body = JSON.stringify({ tokenUUID: own.tokenUUID, userUUID, eventID: 'x', eventUUID: 'event-of-revoked' });
  expect((await fetch(`${url}/logEvent`, { method: 'POST', body })).status).toBe(400);
  await client.revokeToken({ tokenID: own.tokenID });
  const [{ refusedID, tokenID }] = (await firsthandJSON(['refused', 'list'], env)).refused;
  expect(tokenID).toBe(own.tokenID);
  const replay = ['refused', 'replay', refusedID, '--with', '{"eventID":1}'];
  expect(await firsthand(replay, env)).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/is revoked or has expired: name a live browser token of the account .*\n0 /),
  });
  expect(await firsthandJSON([...replay, '--as', other.tokenID], env)).toMatchObject({ replayed: 1 });
  expect((await client.getEvent({})).event).toMatchObject([{ eventUUID: 'event-of-revoked', eventID: 1 }]);
});

it('requires at least one request to replay', async () => {
  const { env } = temporaryDatabase();
  await firsthandJSON(['account', 'create', '--name', 'Shop'], env);
  for (const args of [[], ['--all', '7'], ['7', '8', '--with', '{}'], ['7', '--with', '[]']]) {
    const { code, stdout, stderr } = await firsthand(['refused', 'replay', ...args], env);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^firsthand: [^\n]+\n$/);
  }
  expect((await firsthand(['refused', 'replay', '7'], env)).stdout).toBe('7: is not on the list\n0 resent, 1 failed\n');
});
