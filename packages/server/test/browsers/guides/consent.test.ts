import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeGuide, type GuideSite, openGuideSite } from '../../tools/guide-site.ts';

/** How long to wait for something that must not happen. */
const pause = (milliseconds = 500): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

const storedByTracker = (page: Page): Promise<string[]> =>
  page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('firsthand'))");

/** Expects no cookie, nothing stored, no request except for the script, and no event. */
const expectNothing = async (site: GuideSite, page: Page) => {
  await pause();
  expect(await site.cookie()).toBeUndefined();
  expect(await storedByTracker(page)).toEqual([]);
  expect([...new Set(site.requests)]).toEqual(['GET /s/main.full.js']);
  expect((await site.api.getEvent({})).event).toEqual([]);
};

const eventCount = async (site: GuideSite) => (await site.api.getEvent({})).event.length;

/** Expects the state after a withdrawal: no cookie, and the page logs nothing. */
const expectWithdrawn = async (site: GuideSite, page: Page) => {
  await expect.poll(() => site.cookie()).toBeUndefined();
  expect(await storedByTracker(page)).toEqual([]);
  const [requests, events] = [site.requests.length, await eventCount(site)];
  await page.evaluate("void tracker.log('Bought')");
  await pause();
  expect([site.requests.length, await eventCount(site)]).toEqual([requests, events]);
};

/** The parts of a consent tool that the guide uses. `tcf.tell` calls the listeners. */
const tool = `<script>
  self.tcf = { listeners: [], tell: (data) => tcf.listeners.forEach((listener) => listener(data, true)) };
  self.__tcfapi = (command, version, callback) => {
    if (command !== 'addEventListener' || version !== 2) throw new Error(command);
    tcf.listeners.push(callback);
    callback({ eventStatus: 'cmpuishown', gdprApplies: true, purpose: { consents: {} } }, true);
  };
</script>`;
const sendConsent = (page: Page, eventStatus: string, consents: Record<number, boolean>, gdprApplies = true) =>
  page.evaluate(`tcf.tell(${JSON.stringify({ eventStatus, gdprApplies, purpose: { consents } })})`);

describeGuide('consent.md', () => {
  test('has a banner that starts tracking after consent, and removes everything after a withdrawal', async () => {
    const site = await openGuideSite('consent.md');
    const [banner = ''] = site.blocks('html');
    site.publish('/', `<!doctype html><title>A shop</title>${banner}`);
    const page = await site.open('/');
    await expectNothing(site, page);
    await page.getByRole('button', { name: 'Yes' }).click();
    await site.expectPrinted();
    const [event] = (await site.api.getEvent({})).event;
    const { eventTime = '', receivedTime = '' } = event ?? {};
    expect(Date.parse(receivedTime) - Date.parse(eventTime)).toBeGreaterThan(400);
    expect((await site.cookie())?.value).toBe(event?.userUUID);

    const next = await site.open('/');
    await expect.poll(() => eventCount(site)).toBe(2);
    expect(await next.locator('#banner').isHidden()).toBe(true);

    await site.context.clearCookies();
    const later = await site.open('/');
    await expect.poll(() => eventCount(site)).toBe(3);
    await later.getByRole('button', { name: 'Do not count my visits' }).click();
    await expectWithdrawn(site, later);
  });

  test('has a banner that is not shown again after a refusal, and stores only the refusal', async () => {
    const site = await openGuideSite('consent.md');
    const [banner = ''] = site.blocks('html');
    site.publish('/', `<!doctype html><title>A shop</title>${banner}`);
    const page = await site.open('/');
    await page.getByRole('button', { name: 'No', exact: true }).click();
    const next = await site.open('/');
    expect(await next.locator('#banner').isHidden()).toBe(true);
    await expectNothing(site, next);
  });

  test('lets the TCF API decide', async () => {
    const site = await openGuideSite('consent.md');
    const [banner = '', listening = ''] = site.blocks('html');
    const tag = banner.split('\n\n')[0] as string;
    site.publish('/', `<!doctype html><title>A shop</title>${tool}${tag}${listening}`);
    const refused = await site.open('/');
    await expectNothing(site, refused);
    await sendConsent(refused, 'useractioncomplete', { 1: false, 2: true });
    await expectNothing(site, refused);
    const page = await site.open('/');
    await sendConsent(page, 'tcloaded', { 1: false, 2: true });
    await expectNothing(site, page);
    // Logs events before and after a refusal, which drops queued events but not later ones.
    await page.evaluate("void tracker.log('Page viewed')");
    await sendConsent(page, 'useractioncomplete', { 1: true });
    await site.expectPrinted();
    await sendConsent(page, 'useractioncomplete', { 1: false });
    await expectWithdrawn(site, page);
    const elsewhere = await site.open('/');
    await sendConsent(elsewhere, 'tcloaded', {}, false);
    await expect.poll(() => eventCount(site)).toBe(2);
  });

  test.each([
    ['required', 'wait', 2],
    ['drop', 'are dropped', 0],
  ])('describes that with data-consent="%s", calls before consent %s', async (value, _, events) => {
    const site = await openGuideSite('consent.md');
    const [banner = ''] = site.blocks('html');
    const page = banner.replace('data-consent="required"', `data-consent="${value}"`);
    site.publish('/', `<!doctype html><title>A shop</title>${page}<script>tracker.log('Bought')</script>`);
    const tab = await site.open('/');
    await expectNothing(site, tab);
    await tab.getByRole('button', { name: 'Yes' }).click();
    await tab.evaluate('tracker.flush()');
    await pause();
    expect(await eventCount(site)).toBe(events);
  });

  test.each([
    ['data-consent="required"', 'wait for consent on the same page', ['Bought', 'Page viewed']],
    ['', 'wait for consent on the same page', ['Bought', 'Page viewed']],
    ['data-consent="drop"', 'are dropped', ['Page viewed']],
  ])('describes that with the attribute "%s", calls after a withdrawal %s', async (attribute, _, names) => {
    const site = await openGuideSite('consent.md');
    const [banner = ''] = site.blocks('html');
    const page = banner.replace('data-consent="required"', attribute);
    site.publish('/', `<!doctype html><title>A shop</title>${page}`);
    const tab = await site.open('/');
    await tab.getByRole('button', { name: 'Yes' }).click();
    if (attribute.includes('drop')) await tab.reload();
    await expect.poll(() => eventCount(site)).toBe(1);
    await tab.getByRole('button', { name: 'Do not count my visits' }).click();
    await expectWithdrawn(site, tab);
    await tab.evaluate('tracker.consent(true); tracker.flush()');
    await expect
      .poll(async () => (await site.api.getEvent({})).event.map(({ eventName }) => eventName).toSorted())
      .toEqual(names);
  });

  test('treats Global Privacy Control without data-consent as a refusal until the page overrides it', async () => {
    const site = await openGuideSite('consent.md');
    await site.context.addInitScript(`Object.defineProperty(navigator, 'globalPrivacyControl', { value: true })`);
    const [banner = ''] = site.blocks('html');
    site.publish('/', `<!doctype html><title>A shop</title>${banner.replace(' data-consent="required"', '')}`);
    const page = await site.open('/');
    await expectNothing(site, page);
    await page.getByRole('button', { name: 'Yes' }).click();
    await site.expectPrinted();
  });
});
