/**
 * Tests that attackers with many addresses or their own accounts can neither lock a member out nor exceed the limits on
 * password guesses.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Fields } from '../../fixtures/scene.ts';
import { consoleOrigin, fromConsole } from '../../front-door/console/requests.ts';
import { times } from '../../tools/counts.ts';
import { freePort } from '../../tools/ports.ts';
import { report } from '../../tools/report.ts';
import {
  createTestAccountIn,
  startServerProcess,
  stopServerProcess,
  withoutLimits,
} from '../../tools/server-process.ts';
import { changeServer } from '../../tools/weakened-server.ts';
import { cheapHashing, comparingManyPasswords, withoutMemberSlots } from '../../weaknesses/http.ts';

const emailaddress = 'ben@shop.example';
const password = 'stone teapots sing at dawn';
const wrong = { password: 'not this one, not this' };
const office = '203.0.113.7';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-sign-in-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Starts a server behind a proxy that reports any client address. The first account belongs to the attacked member. */
const start = async (name: string, accounts: number, main?: string) => {
  const path = join(folder, `${name}.db`);
  const tokens: string[] = [];
  for (let nth = 0; nth < accounts; nth += 1) tokens.push(await createTestAccountIn(`sqlite:${path}`, nth));
  const env = { TRUST_PROXY: '127.0.0.1', CONSOLE_ORIGIN: consoleOrigin, RATE_LIMIT: withoutLimits() };
  const open = async () => startServerProcess(path, await freePort(), { main, env });
  let served = await open();

  const { Host: _, ...consoleHeaders } = fromConsole('');
  const post = async (
    address: string,
    to: string,
    fields: Fields,
    headers: Record<string, string> = consoleHeaders,
  ) => {
    const response = await fetch(served.url + to, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json', 'X-Forwarded-For': address },
      body: JSON.stringify(fields),
    });
    // biome-ignore lint/suspicious/noExplicitAny: a test fails if it reads a field that is missing.
    return { status: response.status, body: (await response.json()) as any };
  };

  return {
    close: () => stopServerProcess(served),
    async restart() {
      await stopServerProcess(served);
      served = await open();
    },
    signIn: (address: string, fields: Fields = {}) =>
      post(address, '/console/sign-in', { emailaddress, password, ...fields }),
    /** Invites the e-mail address to an account, and accepts the invitation from a network address. */
    async join(account: number, address: string, chosenPassword = password): Promise<void> {
      const invitation = { tokenUUID: tokens[account], memberEmailaddress: emailaddress, memberRole: 'owner' };
      const { body } = await post(address, '/account/inviteMember', invitation, {});
      const acceptance = { code: body.invitationCode, memberName: 'Ben', password: chosenPassword };
      expect((await post(address, '/console/accept', acceptance)).status).toBe(200);
    },
  };
};
type Target = Awaited<ReturnType<typeof start>>;

/** Runs `work` during a flood of wrong passwords from networks in a /48. */
const duringFlood = async <Value>(target: Target, work: () => Promise<Value>): Promise<Value> => {
  let isOver = false;
  let nth = 0;
  const send = async () => {
    while (!isOver) {
      nth += 1;
      const fields = { ...wrong, emailaddress: `nobody-${nth}@shop.example` };
      const { status } = await target.signIn(`2001:db8:bad:${nth.toString(16)}::1`, fields);
      if (status === 429) await wait(5);
    }
  };
  const clients = Promise.all(Array.from({ length: 40 }, send));
  try {
    await wait(500);
    return await work();
  } finally {
    isOver = true;
    await clients;
  }
};

const tries = times({ quick: 3, full: 20 });

/** Returns how many sign-ins with the right password succeeded. */
const countSuccesses = async (target: Target, addressOf: (nth: number) => string): Promise<number> => {
  let count = 0;
  for (let nth = 0; nth < tries; nth += 1) {
    const { status } = await target.signIn(addressOf(nth));
    if (status === 200) count += 1;
    else await wait(100);
  }
  return count;
};

const signInDuringFlood = async (target: Target) => {
  await target.join(0, office);
  await target.restart();
  const result = await duringFlood(target, async () => ({
    known: await countSuccesses(target, () => office),
    others: await countSuccesses(target, (nth) => `198.51.100.${nth}`),
  }));
  for (let nth = 0; nth < 60; nth += 1) await target.signIn(`192.0.2.${nth % 10}`, { password: 'x'.repeat(2_000) });
  const { status } = await target.signIn('192.0.2.99');
  await target.close();
  return { ...result, afterLong: status };
};

test('lets a member sign in during a flood from a /48, and after many overlong passwords', async (context) => {
  expect(await signInDuringFlood(await start('ours', 1))).toEqual({ known: tries, others: tries, afterLong: 200 });
  const weakened = await start('weakened', 1, changeServer(folder, 'unreserved', withoutMemberSlots));
  const result = await signInDuringFlood(weakened);
  expect(result.known).toBeLessThan(tries);
  report(context, {
    fault: 'flood of sign-ins',
    count: `40 clients in a /48 that send wrong passwords; at the same time, ${tries} sign-ins with the right one from a known address and ${tries} from others, after a restart; 60 passwords of 2000 characters`,
    result: `${tries} and ${tries} succeed; the e-mail address is not locked`,
    weakened: `no reserved slots, and no limits for a /48: ${result.known} and ${result.others} succeed`,
  });
});

/** Attacks as a person who has joined other accounts with the member's e-mail address. */
const attackAsCoTenant = async (target: Target) => {
  const attackerAddress = '192.0.2.66';
  const attacker = { password: 'four words of a stranger' };
  const joinOthers = async (accounts: readonly number[]) => {
    for (const account of accounts) await target.join(account, attackerAddress, attacker.password);
    expect((await target.signIn(attackerAddress, attacker)).status).toBe(200);
  };
  await target.join(0, office);
  await joinOthers([1]);
  for (let nth = 0; nth < 50; nth += 1) await target.signIn(`198.51.100.${nth % 10}`, wrong);
  const isLocked = (await target.signIn('192.0.2.1')).status === 429;
  let evaluated = 0;
  for (let nth = 0; nth < 8; nth += 1) if ((await target.signIn(attackerAddress)).status === 200) evaluated += 1;
  await joinOthers([2, 3, 4, 5, 6]);
  const { status } = await target.signIn(office);
  await target.close();
  return { isLocked, evaluated, status };
};

test('gives a tenant with a member’s e-mail address no extra guesses, and lets the member sign in', async (context) => {
  const main = changeServer(folder, 'cheap', cheapHashing);
  expect(await attackAsCoTenant(await start('tenants', 7, main))).toEqual({
    ...{ isLocked: true, evaluated: 0, status: 200 },
  });
  const weakened = changeServer(folder, 'by-address', [...cheapHashing, ...comparingManyPasswords]);
  const result = await attackAsCoTenant(await start('weak-tenants', 7, weakened));
  expect(result).toEqual({ isLocked: true, evaluated: 8, status: 401 });
  report(context, {
    fault: 'password guesses by the owner of another account',
    count:
      'an owner joins one account with the e-mail address of a member, and makes 8 guesses after 50 failed sign-ins; then joins 5 more',
    result: '0 of 8 evaluated; the right password signs the member in',
    weakened: `recognizes members by e-mail address, and compares 5 candidates: ${result.evaluated} of 8 evaluated; the right password gets a ${result.status}`,
  });
});
