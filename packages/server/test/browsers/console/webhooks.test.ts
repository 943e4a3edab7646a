/** Settings, Webhooks: adds, tests, pauses and removes webhooks in Chromium, and resends their messages. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { launchChromium } from '../../../../tracker/test/chromium.ts';
import { violations } from '../../fixtures/in-page.js';
import { soon } from '../../fixtures/timeouts.ts';
import { openConsole } from './open-console.ts';
import { openShop } from './shop.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

interface Received {
  readonly id: string;
  readonly type: string;
  readonly signatures: number;
}

/** Receives a webhook's messages, and responds with a status that the test chooses. */
const startReceiver = async () => {
  const received: Received[] = [];
  const receiver = { status: 204, text: '', url: '', received };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { type } = JSON.parse(Buffer.concat(chunks).toString());
    const signatures = String(request.headers['webhook-signature']).split(' ').length;
    received.push({ id: String(request.headers['webhook-id']), type, signatures });
    response.writeHead(receiver.status).end(receiver.text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
  return receiver;
};

const openWebhookShop = () => openShop(onTestFinished, { WEBHOOK_ALLOW: '127.0.0.0/8' });

const waitForText = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor(soon);
const click = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

it('adds a webhook, shows its secret once, rotates it, pauses, edits and removes the webhook', async () => {
  const shop = await openWebhookShop();
  const receiver = await startReceiver();
  await shop.api.createSegment({ segmentName: 'Teapot buyers', filter: { event: 'Purchased' } });
  const { page, signIn, complaints } = await openConsole(browser, shop);
  await signIn(shop.serverToken, 'settings?tab=webhooks');
  await waitForText(page, 'No webhooks');

  await click(page, 'Add a webhook…');
  const dialog = page.getByRole('dialog', { name: 'Add a webhook' });
  const url = dialog.getByLabel('URL');
  await dialog.getByLabel('Description').fill('Sales CRM');
  await url.fill('http://10.0.0.1/hooks');
  await click(page, 'Add');
  await dialog.getByText('Choose at least one.').waitFor(soon);
  await dialog.getByLabel('An event is logged').check();
  await dialog.getByLabel('Add an event from the catalogue').selectOption('Purchased');
  expect(await dialog.getByLabel('Only these events').inputValue()).toBe('Purchased');
  await click(page, 'Add');
  await dialog.getByText('This value is not allowed: 10.0.0.1 is not in the setting WEBHOOK_ALLOW').waitFor(soon);
  expect(await url.getAttribute('aria-invalid')).toBe('true');
  await page.evaluate(axe.source);
  expect(await page.evaluate(violations)).toEqual([]);
  await url.fill(receiver.url);
  await click(page, 'Add');

  const secret = page.locator('.new-token code');
  await secret.waitFor(soon);
  const first = await secret.innerText();
  expect(first).toMatch(/^whsec_/);
  await waitForText(page, 'Copy it now. It won’t be shown again.');
  expect((await shop.api.listWebhooks({})).webhook).toMatchObject([
    { url: receiver.url, description: 'Sales CRM', type: ['event.logged'], eventName: ['Purchased'], payload: 'thin' },
  ]);
  await click(page, 'I’ve saved it');
  await waitForText(page, 'An event is logged (Purchased). Messages contain IDs only.');
  expect(await page.content()).not.toContain(first);

  await click(page, 'New secret for Sales CRM');
  await page
    .getByRole('dialog')
    .getByText('For 24 hours, messages are signed with both the old and the new secret.')
    .waitFor(soon);
  await click(page, 'Create a new secret');
  await secret.waitFor(soon);
  expect(await secret.innerText()).not.toBe(first);
  await click(page, 'I’ve saved it');
  await waitForText(page, /Messages are signed with both secrets until/);
  await click(page, 'Send a test to Sales CRM');
  await waitForText(page, 'The endpoint accepted the test message (HTTP 204).');
  expect(receiver.received).toMatchObject([{ type: 'webhook.test', signatures: 2 }]);

  await click(page, 'Pause Sales CRM');
  await waitForText(page, 'New messages are sent when you resume.');
  await shop.api.logEvent({ userUUID: 'visitor-number-1', eventID: 2 });
  await click(page, 'Resume Sales CRM');
  await waitForText(page, /Last success/);
  expect(receiver.received.map(({ type }) => type)).toEqual(['webhook.test', 'event.logged']);

  await click(page, 'Edit Sales CRM');
  const edit = page.getByRole('dialog', { name: 'Edit the webhook' });
  await edit.getByLabel('A visitor is recognized as a contact').check();
  await edit.getByLabel('The whole event or contact').check();
  await click(page, 'Save');
  await waitForText(page, 'A visitor is recognized as a contact. Messages contain the whole event or contact.');

  await click(page, 'Edit Sales CRM');
  await edit.getByLabel('Only with the attribute').selectOption('Revenue');
  await edit.getByLabel('Only with the value').fill('19');
  await edit.getByLabel('A contact leaves a segment').check();
  await edit.getByLabel('Description').fill('');
  await click(page, 'Save');
  await edit.getByText('Choose at least one segment.').waitFor(soon);
  await edit.getByLabel('Teapot buyers').check();
  await page.evaluate(axe.source);
  expect(await page.evaluate(violations)).toEqual([]);
  await click(page, 'Save');
  await waitForText(
    page,
    /An event is logged \(Purchased, with amount = 19\).*A contact leaves a segment \(Teapot buyers\)/,
  );
  await waitForText(page, /Segment “Teapot buyers”/);
  const changed = { attrID: 'amount', attrValue: '19', segmentName: ['Teapot buyers'], description: '' };
  expect((await shop.api.listWebhooks({})).webhook).toMatchObject([changed]);
  await click(page, `Edit ${receiver.url}`);
  await edit.getByLabel('Only with the attribute').selectOption('Any');
  await edit.getByLabel('Description').fill('Sales CRM');
  await click(page, 'Save');
  await waitForText(page, /An event is logged \(Purchased\)/);

  await click(page, 'Remove Sales CRM');
  await page.getByRole('dialog', { name: 'Remove Sales CRM?' }).getByRole('button', { name: 'Remove webhook' }).click();
  await waitForText(page, 'No webhooks');
  expect((await shop.api.listWebhooks({})).webhook).toEqual([]);
  // Chromium logs the 400 response to the invalid URL.
  expect(complaints.filter((complaint) => !complaint.includes('status of 400'))).toEqual([]);
});

it('explains why messages fail, and resends one message, then all failed messages', async () => {
  const shop = await openWebhookShop();
  const receiver = await startReceiver();
  Object.assign(receiver, { status: 500, text: 'The <b>database</b> is down' });
  await shop.api.createWebhook({ url: receiver.url, type: ['event.logged'] });
  const { page, signIn, complaints } = await openConsole(browser, shop);
  await signIn(shop.serverToken, 'settings?tab=webhooks');
  await click(page, `Send a test to ${receiver.url}`);
  await waitForText(page, 'The test message failed: HTTP 500. The response begins with “The <b>database</b> is down”.');

  await shop.api.logEvent({ userUUID: 'visitor-number-1', eventID: 2 });
  await waitForText(page, /Last failure just now: HTTP 500\./);
  await waitForText(page, /Waiting until/);
  await page.getByText('Messages', { exact: true }).click();
  const rows = page.getByRole('row', { name: /event\.logged: Purchased/ });
  await rows.getByText('retrying').waitFor(soon);
  await rows.getByText('The <b>database</b> is down').waitFor(soon);
  await page.evaluate(axe.source);
  expect(await page.evaluate(violations)).toEqual([]);

  receiver.status = 200;
  await click(page, 'Resend failed');
  await waitForText(page, 'One message will be sent again, with the same ID.');
  await waitForText(page, 'No failed messages');
  await page.getByLabel('Only failed').uncheck();
  await rows.getByText('delivered').waitFor(soon);

  await rows.getByRole('button', { name: /^Resend event\.logged/ }).click();
  const messages = () => receiver.received.filter(({ type }) => type === 'event.logged');
  await expect.poll(() => messages().length, { timeout: soon.timeout }).toBeGreaterThanOrEqual(3);
  expect(new Set(messages().map(({ id }) => id)).size).toBe(1);
  expect(complaints).toEqual([]);
});

it('shows why a webhook is disabled, and resumes it', async () => {
  const shop = await openWebhookShop();
  const receiver = await startReceiver();
  receiver.status = 410;
  await shop.api.createWebhook({ url: receiver.url, type: ['event.logged'] });
  await shop.api.logEvent({ userUUID: 'visitor-number-1', eventID: 1 });
  const { page, signIn } = await openConsole(browser, shop);
  await signIn(shop.serverToken, 'settings?tab=webhooks');
  await waitForText(page, 'The endpoint responded with HTTP 410 (Gone). New messages are sent when you resume.');
  receiver.status = 200;
  await click(page, `Resume ${receiver.url}`);
  await page.getByText('active', { exact: true }).waitFor(soon);
  expect((await shop.api.listWebhooks({})).webhook).toMatchObject([{ state: 'active' }]);
});

it('shows webhooks to owners only', async () => {
  const shop = await openWebhookShop();
  await shop.api.createWebhook({ url: 'https://crm.example/hooks', type: ['contact.erased'] });
  const { tokenUUID: editorToken } = await shop.api.createToken({ tokenKind: 'editor', tokenName: 'console' });
  for (const token of [shop.viewerToken, editorToken]) {
    const { page, signIn, complaints } = await openConsole(browser, shop);
    await signIn(token, 'settings?tab=webhooks');
    await waitForText(page, 'Only owners can see webhooks');
    expect(await page.getByText('crm.example').count()).toBe(0);
    expect(complaints).toEqual([]);
  }
});
