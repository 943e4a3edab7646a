/** Settings, Import: imports event files in Chromium, and undoes the imports. */
import { readFileSync } from 'node:fs';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
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

const track = (id: number, timestamp = '2025-03-01T09:02:00Z') =>
  JSON.stringify({ type: 'track', messageId: `m-${id}`, anonymousId: 'visitor-of-2025-a', event: 'Bought', timestamp });

const choose = (page: Page, name: string, lines: readonly string[]) =>
  page
    .getByLabel('Events file')
    .setInputFiles({ name, mimeType: 'application/x-ndjson', buffer: Buffer.from(lines.join('\n')) });

const importButton = (page: Page) => page.getByRole('button', { name: 'Import', exact: true });

const countEvents = async ({ api }: Awaited<ReturnType<typeof openShop>>) =>
  (await api.getEvent({ userUUID: 'visitor-of-2025-a' })).event.length;

it('imports a file with a bad line, saves that line, shows the events, and undoes the import', async () => {
  const shop = await openShop();
  const { page, signIn, goto, complaints } = await openConsole(browser, shop);
  await signIn(shop.serverToken, 'settings?tab=import');
  const lines = [track(1), '{"type": broken', track(2, 'yesterday'), track(3)];
  await choose(page, 'events.jsonl', lines);

  await page.getByRole('button', { name: 'Check' }).click();
  await page.getByText('This would be the result of importing events.jsonl.').waitFor(soon);
  await page.getByText('Imported: 2, refused: 1, invalid rows: 1.').waitFor(soon);
  expect(await countEvents(shop)).toBe(0);

  await importButton(page).click();
  await page.getByText('Imported events.jsonl.').waitFor(soon);
  await page.getByText('Imported: 2, repeated: 0, refused: 1, invalid rows: 1.').waitFor(soon);
  await page.getByText('Line 2: the text is not JSON').waitFor(soon);
  await page.getByText('Line 3: `timestamp` must be a time').waitFor(soon);
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save refused rows' }).click(),
  ]);
  expect(saved.suggestedFilename()).toBe('refused events.jsonl');
  const rows = readFileSync(await saved.path(), 'utf8')
    .trim()
    .split('\n')
    .map((row) => JSON.parse(row));
  expect(rows).toEqual([
    { ...JSON.parse(track(2, 'yesterday')), line: 3, reason: expect.stringContaining('`timestamp` must be a time') },
    { line: 2, reason: 'the text is not JSON' },
  ]);
  await page.evaluate(axe.source);
  expect(await page.evaluate(violations)).toEqual([]);

  expect(await countEvents(shop)).toBe(2);
  await goto('person?user=visitor-of-2025-a');
  await expect.poll(() => page.locator('.event', { hasText: 'Bought' }).count()).toBe(2);

  await goto('settings?tab=import');
  await page.getByRole('button', { name: 'Undo the import of events.jsonl' }).click();
  const dialog = page.getByRole('dialog', { name: 'Undo the import of events.jsonl?' });
  await dialog.getByText('Its 2 records are removed').waitFor(soon);
  await dialog.getByRole('button', { name: 'Undo import' }).click();
  await page.getByRole('cell', { name: 'undone' }).waitFor(soon);
  expect(await countEvents(shop)).toBe(0);
  expect(complaints).toEqual([]);
});

it('continues after the server was unavailable, and stores each event once', async () => {
  const shop = await openShop();
  const { page, signIn, complaints } = await openConsole(browser, shop);
  await signIn(shop.serverToken, 'settings?tab=import');
  const lines = Array.from({ length: 2_500 }, (_, nth) => track(nth));
  const positions: number[] = [];
  await page.route('**/import/importEvents', async (route) => {
    const { position } = route.request().postDataJSON();
    positions.push(position);
    const attempts = positions.filter((each) => each === position).length;
    // Refuses the batch until the client has given up and the page tries again.
    if (position === 1_000 && attempts <= 3)
      return route.fulfill({
        ...{ status: 503, headers: { 'retry-after': '1' }, contentType: 'application/json' },
        body: JSON.stringify({ error: { code: 'unavailable', message: 'the store is unavailable' } }),
      });
    // Stores the batch, but loses the response.
    if (position === 2_000 && attempts === 1) {
      await route.fetch();
      return route.abort();
    }
    return route.continue();
  });
  await choose(page, 'large.jsonl', lines);
  await importButton(page).click();
  await page.getByText('Waiting for the server…').waitFor(soon);
  await page.getByText('Imported: 2,500, repeated: 0, refused: 0.').waitFor(soon);
  expect(positions).toEqual([0, 1_000, 1_000, 1_000, 1_000, 2_000, 2_000]);
  expect((await shop.api.getAccount({})).account.usage.events).toBe(2_500);
  expect(complaints.filter((complaint) => !complaint.includes('ERR_FAILED'))).toEqual([]);
});

it('stops when it is canceled, and continues when the same file is chosen again', async () => {
  const shop = await openShop();
  const { page, signIn } = await openConsole(browser, shop);
  await signIn(shop.serverToken, 'settings?tab=import');
  const lines = Array.from({ length: 1_500 }, (_, nth) => track(nth));
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/import/importEvents', async (route) => {
    if (route.request().postDataJSON().position > 0) await released;
    await route.continue().catch(() => {});
  });
  await choose(page, 'large.jsonl', lines);
  await importButton(page).click();
  await page.getByText('Imported: 1,000, repeated: 0, refused: 0.').waitFor(soon);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('Stopped. To continue, choose the file again.').waitFor(soon);
  await page.getByRole('cell', { name: 'not complete' }).waitFor(soon);
  release();

  await page.reload();
  await choose(page, 'large.jsonl', lines);
  await importButton(page).click();
  await page.getByText('Imported: 1,500, repeated: 0, refused: 0.').waitFor(soon);
  expect((await shop.api.listImports({})).import).toMatchObject([{ state: 'complete', imported: 1_500 }]);

  await importButton(page).click();
  await page.getByText('large.jsonl was imported before. Nothing has changed.').waitFor(soon);
});

it('explains why a file can’t be imported', async () => {
  const shop = await openShop();
  const { page, signIn } = await openConsole(browser, shop);
  await signIn(shop.serverToken, 'settings?tab=import');
  for (const [content, reason] of [
    ['PAR1rows', 'The file is in Parquet format, which the command `firsthand import` reads.'],
    ['date,visitors\n2025-03-01,7\n', 'The file contains daily totals, as Plausible exports them.'],
    ['name\nTea\n', 'The file does not have a format that can be imported (PostHog, '],
  ] as const) {
    await choose(page, 'unknown', [content]);
    await importButton(page).click();
    await page.getByRole('alert').getByText(reason).waitFor(soon);
  }
  expect((await shop.api.listImports({})).import).toEqual([]);
});

it('lets editors import contacts only, and viewers nothing', async () => {
  const shop = await openShop();
  const { importID } = await shop.api.createImport({
    ...{ kind: 'events', importName: 'events of an owner.jsonl', fingerprint: 'a'.repeat(64) },
  });
  await shop.api.importEvents({ importID, position: 0, message: [JSON.parse(track(1))], isLast: true });
  const { tokenUUID: editorToken } = await shop.api.createToken({ tokenKind: 'editor', tokenName: 'console' });

  const editor = await openConsole(browser, shop);
  await editor.signIn(editorToken, 'settings?tab=import');
  await editor.page.getByText('Only owners can import events, and undo that.').waitFor(soon);
  await editor.page.getByText('events of an owner.jsonl').waitFor(soon);
  expect(await editor.page.getByLabel('Events file').count()).toBe(0);
  expect(await editor.page.getByRole('button', { name: /^Undo/ }).count()).toBe(0);
  await editor.page.getByRole('button', { name: 'Import contacts…' }).click();
  await editor.page.getByRole('dialog', { name: 'Import contacts' }).getByLabel('CSV file').waitFor(soon);

  const viewer = await openConsole(browser, shop);
  await viewer.signIn(shop.viewerToken, 'settings?tab=import');
  await viewer.page.getByText('Only editors and owners can import files').waitFor(soon);
  expect([...editor.complaints, ...viewer.complaints]).toEqual([]);
});
