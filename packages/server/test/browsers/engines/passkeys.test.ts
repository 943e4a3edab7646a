/** Passkeys in each engine that supports them, with a virtual authenticator; passwords in the engine that does not. */
import axe from 'axe-core';
import { afterAll, beforeAll, expect, it, onTestFinished, test } from 'vitest';
import { launchChromium } from '../../../../tracker/test/chromium.ts';
import type { Session, Tab } from '../../../../tracker/test/engines/engine.ts';
import { describeEngines } from '../../../../tracker/test/engines/engines.ts';
import {
  cellsOf,
  clickByName,
  clickInRow,
  fill,
  problems,
  recordProblems,
  textsOf,
  violations,
  visibleText,
} from '../../fixtures/in-page.js';
import { soon } from '../../fixtures/timeouts.ts';
import { openConsole } from '../console/open-console.ts';
import { openShop } from '../console/shop.ts';

const passkeys = 'Your passkeys';
const password = 'stone teapots sing at dawn';

/** Opens a shop with a host name, because passkeys don't work on IP addresses. */
const openNamedShop = async () => {
  const shop = await openShop();
  return { ...shop, url: shop.url.replace('127.0.0.1', 'localhost') };
};

const waitForText = (tab: Tab, text: string) => expect.poll(() => tab.run(visibleText)).toContain(text);
/** Waits for a page, then records its problems. */
const waitForHeading = async (tab: Tab, text: string) => {
  await expect.poll(() => tab.run(textsOf, 'h1')).toContain(text);
  await tab.run(recordProblems);
};
const expectNoProblem = async (tab: Tab) => expect(await tab.run(problems)).toEqual([]);
const clickText = (tab: Tab, text: string) => expect.poll(() => tab.run(clickByName, text)).toBe(true);
const fillField = (tab: Tab, field: string, text: string) => expect.poll(() => tab.run(fill, field, text)).toBe(true);
const clickRemove = (tab: Tab, nth: number) => expect.poll(() => tab.run(clickInRow, passkeys, nth)).toBe(true);
const expectAccessible = async (tab: Tab) => {
  // Passes a string, because `tab.run` sends only its function's source text to the page.
  await tab.run(`() => { ${axe.source}; return true; }` as unknown as () => boolean);
  expect(await tab.run(violations)).toEqual([]);
};

const openInvitation = async (session: Session, memberRole: 'owner' | 'viewer') => {
  const shop = await openNamedShop();
  const member = { memberEmailaddress: 'ben@shop.example', memberRole };
  const { invitationCode, memberID } = await shop.api.inviteMember(member);
  const tab = await session.openTab(`${shop.url}/console/join#code=${invitationCode}`);
  onTestFinished(() => tab.close());
  await waitForHeading(tab, 'Join Shop');
  await fillField(tab, 'input[name=name]', 'Ben Lime');
  const addAuthenticator = async (transport: 'internal' | 'usb' = 'internal') => {
    const authenticator = await tab.addAuthenticator?.(transport);
    if (authenticator === undefined) throw new Error('this engine has no WebAuthn');
    let isAttached = true;
    const remove = async () => {
      if (isAttached) await authenticator.remove();
      isAttached = false;
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
    test('are not offered: a member joins and signs in with a password', async () => {
      const { tab } = await openInvitation(session, 'owner');
      expect(tab.addAuthenticator).toBeUndefined();
      expect(await tab.run(visibleText)).not.toMatch(/passkey/i);
      await fillField(tab, 'input[name=password]', password);
      await clickText(tab, 'Join');
      await waitForHeading(tab, 'Overview');
      await clickText(tab, 'Settings');
      await clickText(tab, 'Team');
      await expect
        .poll(() => tab.run(cellsOf, 'Members'))
        .toEqual([['Ben Lime', 'ben@shop.example', expect.any(String), expect.any(String), '0', expect.any(String)]]);
      expect(await tab.run(visibleText)).not.toContain(passkeys);
      await clickText(tab, 'Sign out');
      await waitForHeading(tab, 'Sign in to Firsthand');
      expect(await tab.run(visibleText)).not.toMatch(/passkey/i);
      await fillField(tab, '#emailaddress', 'ben@shop.example');
      await fillField(tab, '#password', password);
      await clickText(tab, 'Sign in');
      await waitForHeading(tab, 'Settings');
      await expectNoProblem(tab);
    });
    return;
  }

  test('let a member join and sign in, add another passkey, and remove the first', async () => {
    const { tab, shop, memberID, addAuthenticator } = await openInvitation(session, 'owner');
    const device = await addAuthenticator();
    await expectAccessible(tab);
    await clickText(tab, 'Join with a passkey instead');
    await waitForHeading(tab, 'Overview');
    expect(await device.count()).toBe(1);

    await expectNoProblem(tab);
    await clickText(tab, 'Sign out');
    await waitForHeading(tab, 'Sign in to Firsthand');
    await expectAccessible(tab);
    await clickText(tab, 'Sign in with a passkey');
    await waitForHeading(tab, 'Overview');

    await clickText(tab, 'Settings');
    await clickText(tab, 'Team');
    await waitForText(tab, 'Your passkeys · 1');
    await expect.poll(async () => (await tab.run(cellsOf, passkeys))[0]?.[2]).not.toBe('never');
    await clickRemove(tab, 0);
    await expectAccessible(tab);
    await clickText(tab, 'Remove');
    await waitForText(tab, 'is your only way to sign in');
    await clickText(tab, 'Close');

    // Adds another device, because this device already has a passkey.
    await clickText(tab, 'Add a passkey…');
    await fillField(tab, 'dialog[open] input', 'Phone');
    await expectAccessible(tab);
    await clickText(tab, 'Add');
    await waitForText(tab, 'This device already has one of your passkeys.');
    // Removes the first device, because Firefox would use the device that responds first.
    await device.remove();
    const key = await addAuthenticator('usb');
    await clickText(tab, 'Add');
    await waitForText(tab, 'Your passkeys · 2');
    expect(await key.count()).toBe(1);
    await expect.poll(async () => (await tab.run(cellsOf, 'Members'))[0]?.[4]).toBe('2');
    expect((await shop.api.listMembers({})).member).toMatchObject([{ memberID, passkeys: 2 }]);
    await clickRemove(tab, 0);
    await clickText(tab, 'Remove');
    await waitForText(tab, 'Your passkeys · 1');
    expect(await tab.run(cellsOf, passkeys)).toEqual([['Phone', expect.any(String), 'never', expect.any(String)]]);
    await waitForText(tab, 'You have no password. You sign in with a passkey.');
    await clickText(tab, 'Set a password…');
    await fillField(tab, 'dialog[open] input[name=password]', password);
    await expectAccessible(tab);
    await clickText(tab, 'Set');
    await waitForText(tab, 'Password set for this account. Your other sessions have ended.');
    await waitForText(tab, 'Change password…');
    await clickText(tab, 'Audit log');
    await expect.poll(() => tab.run(visibleText)).toMatch(/Password changed\s+Ben Lime/);
    await expect.poll(() => tab.run(visibleText)).toMatch(/Passkey removed\s+Ben Lime/);
    await expectNoProblem(tab);
  });

  test('explain why sign-in failed: the user was not verified, or the passkey was removed', async () => {
    const { tab, shop, memberID, addAuthenticator } = await openInvitation(session, 'viewer');
    const device = await addAuthenticator();
    await clickText(tab, 'Join with a passkey instead');
    await waitForHeading(tab, 'Overview');
    await clickText(tab, 'Sign out');
    await device.verifies(false);
    await clickText(tab, 'Sign in with a passkey');
    await waitForText(tab, 'No passkey was used: the request was canceled');
    await device.verifies(true);
    await shop.api.removeMember({ memberID });
    await clickText(tab, 'Sign in with a passkey');
    await waitForText(tab, 'Signing in with this passkey failed');
  });
});

it('offers no passkeys on an IP address, or in a browser without the WebAuthn JSON functions', async () => {
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
