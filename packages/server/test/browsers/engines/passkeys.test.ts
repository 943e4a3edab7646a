/** Passkeys in each engine that has them, with a virtual authenticator in place of a fingerprint; and passwords in the one that has none. */
import axe from 'axe-core';
import { afterAll, beforeAll, expect, it, onTestFinished, test } from 'vitest';
import { launchChromium } from '../../../../tracker/test/chromium.ts';
import type { Session, Tab } from '../../../../tracker/test/engines/engine.ts';
import { describeEngines } from '../../../../tracker/test/engines/engines.ts';
import {
  cellsOf,
  fill,
  noteProblems,
  pressExactly,
  pressInRow,
  problems,
  textsOf,
  violations,
  visibleText,
} from '../../fixtures/in-page.js';
import { soon } from '../../fixtures/patience.ts';
import { openConsole } from '../console/opened.ts';
import { openShop } from '../console/shop.ts';

const passkeys = 'Your passkeys';
const password = 'stone teapots sing at dawn';

/** A shop at a host with a name, which passkeys need. */
const openNamedShop = async () => {
  const shop = await openShop();
  return { ...shop, url: shop.url.replace('127.0.0.1', 'localhost') };
};

const sees = (tab: Tab, text: string) => expect.poll(() => tab.run(visibleText)).toContain(text);
/** Waits for a page, and notes its problems from then on. */
const heading = async (tab: Tab, text: string) => {
  await expect.poll(() => tab.run(textsOf, 'h1')).toContain(text);
  await tab.run(noteProblems);
};
const expectNoProblem = async (tab: Tab) => expect(await tab.run(problems)).toEqual([]);
const presses = (tab: Tab, text: string) => expect.poll(() => tab.run(pressExactly, text)).toBe(true);
const fills = (tab: Tab, field: string, text: string) => expect.poll(() => tab.run(fill, field, text)).toBe(true);
const removes = (tab: Tab, nth: number) => expect.poll(() => tab.run(pressInRow, passkeys, nth)).toBe(true);
const isAccessible = async (tab: Tab) => {
  // A text is all that travels to the page.
  await tab.run(`() => { ${axe.source}; return true; }` as unknown as () => boolean);
  expect(await tab.run(violations)).toEqual([]);
};

/** Opens the page of an invitation. */
const openInvitation = async (session: Session, memberRole: 'owner' | 'viewer') => {
  const shop = await openNamedShop();
  const invited = { memberEmailaddress: 'ben@shop.example', memberRole };
  const { invitationCode, memberID } = await shop.api.inviteMember(invited);
  const tab = await session.openTab(`${shop.url}/console/join#code=${invitationCode}`);
  onTestFinished(() => tab.close());
  await heading(tab, 'Join Shop');
  await fills(tab, 'input[name=name]', 'Ben Lime');
  const addAuthenticator = async (transport: 'internal' | 'usb' = 'internal') => {
    const authenticator = await tab.addAuthenticator?.(transport);
    if (authenticator === undefined) throw new Error('this engine has no WebAuthn');
    let isThere = true;
    const remove = async () => {
      if (isThere) await authenticator.remove();
      isThere = false;
    };
    onTestFinished(remove);
    return { ...authenticator, remove };
  };
  return { shop, memberID, tab, addAuthenticator };
};

describeEngines('passkeys', (engine) => {
  const hasPasskeys = engine.name !== 'WebKitGTK';
  let session: Session;
  beforeAll(async () => {
    session = await engine.launch();
  });
  afterAll(() => session?.close());

  if (!hasPasskeys) {
    test('are not offered: a person joins and signs in with a password', async () => {
      const { tab } = await openInvitation(session, 'owner');
      expect(tab.addAuthenticator).toBeUndefined();
      expect(await tab.run(visibleText)).not.toMatch(/passkey/i);
      await fills(tab, 'input[name=password]', password);
      await presses(tab, 'Join');
      await heading(tab, 'Overview');
      await presses(tab, 'Settings');
      await presses(tab, 'Team');
      await expect
        .poll(() => tab.run(cellsOf, 'People who may sign in'))
        .toEqual([['Ben Lime', 'ben@shop.example', expect.any(String), expect.any(String), '0', expect.any(String)]]);
      expect(await tab.run(visibleText)).not.toContain(passkeys);
      await presses(tab, 'Sign out');
      await heading(tab, 'Sign in to Firsthand');
      expect(await tab.run(visibleText)).not.toMatch(/passkey/i);
      await fills(tab, '#emailaddress', 'ben@shop.example');
      await fills(tab, '#password', password);
      await presses(tab, 'Sign in');
      await heading(tab, 'Settings');
      await expectNoProblem(tab);
    });
    return;
  }

  test('let a person join and sign in; another one is added, and the first removed', async () => {
    const { tab, shop, memberID, addAuthenticator } = await openInvitation(session, 'owner');
    const device = await addAuthenticator();
    await isAccessible(tab);
    await presses(tab, 'Join with a passkey instead');
    await heading(tab, 'Overview');
    expect(await device.count()).toBe(1);

    await expectNoProblem(tab);
    await presses(tab, 'Sign out');
    await heading(tab, 'Sign in to Firsthand');
    await isAccessible(tab);
    await presses(tab, 'Sign in with a passkey');
    await heading(tab, 'Overview');

    await presses(tab, 'Settings');
    await presses(tab, 'Team');
    await sees(tab, 'Your passkeys · 1');
    await expect.poll(async () => (await tab.run(cellsOf, passkeys))[0]?.[2]).not.toBe('never');
    await removes(tab, 0);
    await isAccessible(tab);
    await presses(tab, 'Remove');
    await sees(tab, 'is your only way to sign in');
    await presses(tab, 'Close');

    // This device has one already: another one takes the second.
    await presses(tab, 'Add a passkey …');
    await fills(tab, 'dialog[open] input', 'Phone');
    await isAccessible(tab);
    await presses(tab, 'Add');
    await sees(tab, 'This device already has one of your passkeys.');
    // Alone: where both are asked, Firefox takes the answer of the one that is quicker.
    await device.remove();
    const key = await addAuthenticator('usb');
    await presses(tab, 'Add');
    await sees(tab, 'Your passkeys · 2');
    expect(await key.count()).toBe(1);
    await expect.poll(async () => (await tab.run(cellsOf, 'People who may sign in'))[0]?.[4]).toBe('2');
    expect((await shop.api.listMembers({})).member).toMatchObject([{ memberID, passkeys: 2 }]);
    await removes(tab, 0);
    await presses(tab, 'Remove');
    await sees(tab, 'Your passkeys · 1');
    expect(await tab.run(cellsOf, passkeys)).toEqual([['Phone', expect.any(String), 'never', expect.any(String)]]);
    await sees(tab, 'You have no password: you sign in with a passkey.');
    await presses(tab, 'Set a password …');
    await fills(tab, 'dialog[open] input[name=password]', password);
    await isAccessible(tab);
    await presses(tab, 'Set');
    await sees(tab, 'Password set for this account. Your other sessions in it have ended.');
    await sees(tab, 'Change password …');
    await presses(tab, 'Audit log');
    await expect.poll(() => tab.run(visibleText)).toMatch(/Password changed\s+Ben Lime/);
    await expect.poll(() => tab.run(visibleText)).toMatch(/Passkey removed\s+Ben Lime/);
    await expectNoProblem(tab);
  });

  test('say why nobody was signed in: the person was not verified, or the passkey was removed', async () => {
    const { tab, shop, memberID, addAuthenticator } = await openInvitation(session, 'viewer');
    const device = await addAuthenticator();
    await presses(tab, 'Join with a passkey instead');
    await heading(tab, 'Overview');
    await presses(tab, 'Sign out');
    await device.verifies(false);
    await presses(tab, 'Sign in with a passkey');
    await sees(tab, 'No passkey was used: it was cancelled');
    await device.verifies(true);
    await shop.api.removeMember({ memberID });
    await presses(tab, 'Sign in with a passkey');
    await sees(tab, 'The passkey does not sign in here');
  });
});

it('offers no passkey at an IP address, nor to a browser that does not read its options', async () => {
  const browser = await launchChromium();
  onTestFinished(() => browser.close());
  const signIn = 'Sign in to Firsthand';
  const shop = await openShop();
  const { page, goto } = await openConsole(browser, shop);
  await goto('');
  await page.getByRole('heading', { level: 1, name: signIn }).waitFor(soon);
  expect(await page.getByRole('button', { name: /passkey/ }).count()).toBe(0);
  const older = await openConsole(browser, { ...shop, url: shop.url.replace('127.0.0.1', 'localhost') });
  await older.page.addInitScript('delete PublicKeyCredential.parseRequestOptionsFromJSON');
  await older.goto('');
  await older.page.getByRole('heading', { level: 1, name: signIn }).waitFor(soon);
  expect(await older.page.getByRole('button', { name: /passkey/ }).count()).toBe(0);
});
