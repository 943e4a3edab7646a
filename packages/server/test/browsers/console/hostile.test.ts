/**
 * Tests hostile strings in every field and on every page: nothing runs, nothing violates the Content Security Policy,
 * and no page is wider than its window.
 */
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchChromium } from '../../../../tracker/test/chromium.ts';
import { clickAll, findOverflowingElements, recordViolations, visitAll } from '../../fixtures/in-page.js';
import { soon } from '../../fixtures/timeouts.ts';
import { fillWithHostileStrings, stringsPerDay } from './hostile-site.ts';
import { hostileStrings, unstorableStrings } from './hostile-strings.ts';
import { openConsole } from './open-console.ts';
import { openShop, type Shop } from './shop.ts';

const phone = { width: 390, height: 844 };
const laptop = { width: 1440, height: 900 };

let browser: Browser;
let shop: Shop;
let site: Awaited<ReturnType<typeof fillWithHostileStrings>>;
beforeAll(async () => {
  browser = await launchChromium();
  shop = await openShop(afterAll);
  site = await fillWithHostileStrings(shop);
});
afterAll(() => browser?.close());

const open = async () => {
  const opened = await openConsole(browser, shop, { viewport: phone });
  await opened.page.addInitScript(recordViolations);
  await opened.signIn(shop.serverToken, 'set-up');
  return opened;
};
/** Whether a console message is a failure. Rejected requests are expected. */
const isComplaint = (text: string) => !/status of 4(00|04|09|14|29)/.test(text);
const waitUntilLoaded = async (page: Page): Promise<void> => {
  await page.locator('.card, .empty, .problem').first().waitFor(soon);
  await expect.poll(() => page.locator('[aria-busy=true]').count()).toBe(0);
};

/** Checks that nothing has run or violated the policy, and that the page and its dialog fit the window. */
const expectHarmless = async (page: Page, what: string): Promise<void> => {
  expect(await page.evaluate('["harmed" in window, window.refused]'), what).toEqual([false, []]);
  expect(await page.evaluate(findOverflowingElements), what).toEqual([]);
};
/** Checks this on a phone and on a laptop. */
const expectHarmlessOnBoth = async (page: Page, what: string): Promise<void> => {
  await expectHarmless(page, what);
  await page.setViewportSize(laptop);
  await expectHarmless(page, `${what}, on a laptop`);
  await page.setViewportSize(phone);
  await expectHarmless(page, `${what}, narrow again`);
};

/** Returns a CSV file's cells, also as split by programs that treat a semicolon or tab as a separator. */
const cellsOf = (csv: string): string[] => {
  const quoted = [...csv.matchAll(/(?:^|,|\r\n)(?:"((?:[^"]|"")*)"|([^",\r\n]*))/g)];
  const cells = quoted.map(([, inQuotes, plain = '']) => inQuotes?.replaceAll('""', '"') ?? plain);
  return [...cells, ...cells.flatMap((cell) => cell.split(/[;\t\r\n]/))];
};

const saveCSV = async (page: Page, name: string | RegExp = 'CSV'): Promise<string> => {
  const button = page.getByRole('button', { name }).first();
  const downloading = page.waitForEvent('download');
  const hasDialog = (await button.getAttribute('aria-haspopup')) === 'dialog';
  await button.click();
  if (hasDialog) await page.getByRole('button', { name: 'Save', exact: true }).click();
  const file = await downloading;
  return readFileSync(await file.path(), 'utf8').replace(/^\ufeff/, '');
};
const expectHarmlessCSV = (csv: string, what: string): void => {
  const formulas = cellsOf(csv).filter(
    (cell) => /^[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/.test(cell) && Number.isNaN(Number(cell)),
  );
  expect([what, formulas]).toEqual([what, []]);
};

/** Clicks a button that loads the next page until there is none. */
const showAll = async (page: Page, name: string): Promise<void> => {
  const more = page.getByRole('button', { name });
  while ((await more.count()) > 0) {
    const answered = page.waitForResponse((response) => response.url().includes('cursor='), soon);
    await more.click();
    await answered;
    // Waits for the page to render the new rows and the next button.
    await page.waitForTimeout(50);
  }
};

it('renders hostile strings harmlessly on the event and people pages', async () => {
  const { page, goto, complaints } = await open();
  const days = Math.ceil(hostileStrings.length / stringsPerDay);
  const dayOf = (nth: number) => new Date(Date.now() - nth * 86_400_000).toISOString().slice(0, 10);
  const dimensions = [
    'event',
    'attr:path',
    'contactTagID',
    'contactProfileID',
    'referrerHost',
    'entryPage',
    'attr:utm_campaign',
  ];
  for (let nth = 0; nth < days; nth += 1) {
    const range = nth === 0 ? 'range=today' : `from=${dayOf(nth)}&to=${dayOf(nth)}`;
    const by = dimensions[nth % dimensions.length] ?? '';
    await goto(`events?${range}&by=${by}`);
    await waitUntilLoaded(page);
    await (nth === 0 ? expectHarmlessOnBoth : expectHarmless)(page, `day ${nth} by ${by}`);
    expectHarmlessCSV(await saveCSV(page, 'Breakdown: save as CSV'), `day ${nth} by ${by}`);
  }
  for (const path of [
    '',
    'live',
    `?from=${dayOf(1)}&to=${dayOf(1)}`,
    'events?tab=funnel&steps=10,11,12',
    'events?tab=retention&first=10',
  ]) {
    await goto(path);
    await waitUntilLoaded(page);
    await page.evaluate(clickAll, '.event-name[aria-expanded=false]');
    await expectHarmlessOnBoth(page, path);
    for (const name of await page
      .getByRole('button', { name: /CSV/ })
      .evaluateAll((all) => all.map((one) => String(one.getAttribute('aria-label') ?? 'CSV'))))
      expectHarmlessCSV(await saveCSV(page, name), `${path} ${name}`);
  }
  for (const path of ['people', 'people?list=everybody']) {
    await goto(path);
    await waitUntilLoaded(page);
    await showAll(page, 'Show more');
    expect(await page.locator('tbody tr').count()).toBeGreaterThanOrEqual(hostileStrings.length);
    await expectHarmlessOnBoth(page, path);
    const csv = await saveCSV(page);
    expect(csv.split('@shop.example').length).toBeGreaterThan(hostileStrings.length);
    expectHarmlessCSV(csv, path);
  }
  expect(complaints.filter(isComplaint)).toEqual([]);
});

it('renders hostile strings harmlessly on person pages, in their dialogs, and in the palette', async () => {
  const { page, goto, complaints } = await open();
  await goto(`person?contact=${site.contacts[0]}`);
  await waitUntilLoaded(page);
  await showAll(page, 'Show earlier events');
  await page.evaluate(clickAll, '.session-head[aria-expanded=false]');
  await expect.poll(() => page.locator('.event-name').count()).toBeGreaterThanOrEqual(hostileStrings.length);
  await page.evaluate(clickAll, '.event-name[aria-expanded=false]');
  await expectHarmlessOnBoth(page, 'the history of all');
  for (const [nth, contactUUID] of site.contacts.entries()) {
    if (nth % 50 !== 7) continue;
    await goto(`person?contact=${contactUUID}`);
    await waitUntilLoaded(page);
    await expectHarmless(page, `contact ${nth}`);
    for (const name of ['Merge…', 'Erase…']) {
      await page.getByRole('button', { name }).click();
      await page.getByRole('dialog').waitFor(soon);
      await expectHarmless(page, `contact ${nth}, ${name}`);
      await page.keyboard.press('Escape');
    }
    await page.keyboard.press('Control+K');
    await page.keyboard.insertText((hostileStrings[nth] ?? '').replaceAll(/[\r\n]/g, '').slice(0, 60));
    await page.waitForTimeout(200);
    await expectHarmless(page, `the palette with the text ${nth}`);
    await page.keyboard.press('Escape');
  }
  await goto('person?user=hostile-nobody-3');
  await waitUntilLoaded(page);
  await page.getByRole('button', { name: 'Link to a contact…' }).click();
  await page.getByRole('dialog').waitFor(soon);
  await expectHarmless(page, 'the link dialog');
  expect(complaints.filter(isComplaint)).toEqual([]);
});

it('renders hostile strings harmlessly in the catalogue, segments and settings', async () => {
  const { page, goto, complaints } = await open();
  for (const path of ['catalogue', 'catalogue?tab=attr', 'catalogue?tab=tag', 'catalogue?tab=profile']) {
    await goto(path);
    await waitUntilLoaded(page);
    expect(await page.locator('tbody tr').count()).toBeGreaterThanOrEqual(hostileStrings.length);
    await expectHarmlessOnBoth(page, path);
    expectHarmlessCSV(await saveCSV(page), path);
    if (path.endsWith('attr')) await page.evaluate(clickAll, 'button[aria-label^="Rename "]');
    await expectHarmless(page, `${path}, renaming`);
  }
  await goto('catalogue?tab=tag');
  for (const nth of [0, 19, 48, 75]) {
    await page.locator('.table-actions [aria-label^="Remove "]').nth(nth).click();
    await page.getByRole('dialog').waitFor(soon);
    await expectHarmless(page, `removing ${nth}`);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.locator('.table-actions [aria-label^="Merge "]').nth(nth).click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor(soon);
    await expectHarmless(page, `merging ${nth}`);
    await dialog.getByRole('button', { name: 'Merge' }).click();
    await page.locator('.merged').first().waitFor(soon);
    await expectHarmless(page, `merged ${nth}`);
    await page.locator('[aria-label^="Separate "]').first().click();
    await page.locator('.merged').waitFor({ ...soon, state: 'detached' });
  }
  for (let first = 0; first < hostileStrings.length; first += site.maxSegments) {
    await site.replaceSegments(first);
    await goto('catalogue?tab=segment');
    await waitUntilLoaded(page);
    expect(await page.locator('tbody tr').count()).toBe(site.maxSegments);
    await (first === 0 ? expectHarmlessOnBoth : expectHarmless)(page, `segments from ${first}`);
    expectHarmlessCSV(await saveCSV(page), `segments from ${first}`);
  }
  await page.locator('tbody a').first().click();
  await page.getByRole('list', { name: 'Filter' }).waitFor(soon);
  await expectHarmless(page, 'people of a segment');
  await goto('settings');
  await waitUntilLoaded(page);
  expect(await page.locator('tbody tr').count()).toBeGreaterThanOrEqual(hostileStrings.length);
  await expectHarmlessOnBoth(page, 'tokens');
  expectHarmlessCSV(await saveCSV(page), 'tokens');
  for (const nth of [0, 19, 48, 75]) {
    await page
      .getByRole('button', { name: /^Revoke / })
      .nth(nth)
      .click();
    await page.getByRole('dialog').waitFor(soon);
    await expectHarmless(page, `revoking ${nth}`);
    await page.keyboard.press('Escape');
  }
  await goto('settings?tab=import');
  await waitUntilLoaded(page);
  expect(await page.locator('tbody tr').count()).toBeGreaterThan(50);
  await expectHarmlessOnBoth(page, 'imports');
  for (const nth of [0, 19, 48]) {
    await page
      .getByRole('button', { name: /^Undo / })
      .nth(nth)
      .click();
    await page.getByRole('dialog').waitFor(soon);
    await expectHarmless(page, `undoing the import ${nth}`);
    await page.keyboard.press('Escape');
  }
  await goto('settings?tab=webhooks');
  await waitUntilLoaded(page);
  const webhooks = page.locator('.items > li');
  await expect.poll(() => webhooks.count()).toBe(50);
  await expectHarmlessOnBoth(page, 'webhooks');
  for (const nth of [0, 19, 48])
    for (const action of ['Edit…', 'Remove…']) {
      await webhooks.nth(nth).getByText(action, { exact: true }).click();
      await page.getByRole('dialog').waitFor(soon);
      await expectHarmless(page, `${action} ${nth}`);
      await page.keyboard.press('Escape');
    }
  for (const path of ['settings?tab=account', 'settings?tab=storage', 'settings?tab=audit']) {
    await goto(path);
    await waitUntilLoaded(page);
    await expectHarmlessOnBoth(page, path);
  }
  expectHarmlessCSV(await saveCSV(page), 'audit log');
  expect(complaints.filter(isComplaint)).toEqual([]);
});

it('renders hostile strings harmlessly in saved views and share links', async () => {
  const { page, goto, complaints } = await open();
  for (let first = 0; first < hostileStrings.length; first += site.maxSegments) {
    await site.replaceViews(first);
    const [secret] = await site.replaceShareLinks(first);
    await goto('events?tab=funnel&steps=10,11');
    await waitUntilLoaded(page);
    await page.locator('.views-menu > summary').click();
    await expect.poll(() => page.locator('.views-menu-view').count()).toBe(site.maxSegments);
    await (first === 0 ? expectHarmlessOnBoth : expectHarmless)(page, `views from ${first}`);
    await page
      .locator('.views-menu a')
      .nth(first % 7)
      .click();
    await waitUntilLoaded(page);
    expect(new URL(page.url()).pathname).toBe('/console/events');
    await goto('settings?tab=shared');
    await waitUntilLoaded(page);
    expect(await page.locator('tbody tr').count()).toBe(site.maxSegments);
    await (first === 0 ? expectHarmlessOnBoth : expectHarmless)(page, `share links from ${first}`);
    await page
      .getByRole('button', { name: /^Revoke / })
      .first()
      .click();
    await page.getByRole('dialog').waitFor(soon);
    await expectHarmless(page, `revoking a link from ${first}`);
    await goto(`shared/${secret}`);
    await page.locator('.shared .response').waitFor(soon);
    await waitUntilLoaded(page);
    await (first === 0 ? expectHarmlessOnBoth : expectHarmless)(page, `a shared view from ${first}`);
  }
  expect(complaints.filter(isComplaint)).toEqual([]);
});

it('handles hostile strings in the URL', async () => {
  const { page, goto, complaints } = await open();
  const texts = [...hostileStrings, ...unstorableStrings];
  const conditions = texts.map((text) => ({ attrID: text.slice(0, 64), is: [text] }));
  const filters = Array.from({ length: Math.ceil(texts.length / 10) }, (_, nth) =>
    JSON.stringify(conditions.slice(nth * 10, nth * 10 + 10)),
  );
  // Pages with reports get only a tenth of the strings, from all families, because each URL is expensive for the
  // service.
  const isForReports = (nth: number) => nth % 10 === 3 || nth >= hostileStrings.length;
  const reports: readonly ((text: string, given: string) => string)[] = [
    (text) => `?range=${text}&measure=${text}&pages=${text}&compare=${text}&filter=${text}`,
    (text) => `events?by=attr:${text}&event=${text}&who=${text}`,
    (_, given) => `events?by=attr:path&who=${encodeURIComponent(JSON.stringify({ value: [given] }))}`,
    (text) => `events?tab=funnel&steps=${text}&within=${text}&per=${text}&who={"reached":{}}`,
    (text) => `events?tab=retention&interval=${text}&first=${text}&who={"cohort":1,"later":{}}`,
  ];
  const lists: typeof reports = [
    (text) => `people?text=${text}`,
    (text) => `people?list=everybody&browsers=${text}`,
    (text) => `people?tag=${text}&status=${text}`,
    (text) => `catalogue?tab=${text}&text=${text}`,
    (text) => `settings?tab=audit&action=${text}`,
    (text) => `person?contact=${text}`,
  ];
  const addresses = [
    '?filter=[{"and":{}},{"not":5}]',
    '?filter=[{"attrID":{}}]',
    '?range=<svg>&measure=__proto__',
    'events?by=attr:<svg>&event=<svg>&who={"value":5}',
    'events?tab=funnel&steps=<svg>&within=__proto__&who={"reached":{}}',
    'events?tab=retention&who=<svg>',
    ...filters.map((filter) => `people?list=everybody&filter=${encodeURIComponent(filter)}`),
    ...texts.map((text, nth) => {
      const forms = isForReports(nth) ? reports : lists;
      return forms[Math.floor(nth / 10 + nth) % forms.length]?.(encodeURIComponent(text.toWellFormed()), text) ?? '';
    }),
  ];
  await goto('people');
  await waitUntilLoaded(page);
  expect(await page.evaluate(visitAll, addresses)).toBe(addresses.length);
  await waitUntilLoaded(page);
  await expectHarmless(page, 'in-page');
  for (const path of [`?filter=${encodeURIComponent(filters[0] ?? '')}`, 'person?contact=<img>', 'person?user=<img>']) {
    await goto(path);
    await waitUntilLoaded(page);
    await expectHarmless(page, path);
  }
  expect(complaints.filter(isComplaint)).toEqual([]);
});
