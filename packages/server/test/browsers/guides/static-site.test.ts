import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../fixtures/command.ts';
import { describeGuide, openGuideSite } from '../../tools/guide-site.ts';

describeGuide('static-site.md', () => {
  test('leads to three events by one visitor, and to a contact who owns them', async () => {
    const site = await openGuideSite('static-site.md');
    const [page = '', form = ''] = site.blocks('html');
    site.publish('/', page);
    const tab = await site.open('/');
    await expect.poll(() => site.requests).toContain('POST /s/update');
    await tab.getByRole('button', { name: 'Add to basket' }).click();
    await tab.getByRole('button', { name: 'Buy' }).click();
    await site.expectPrinted();

    site.publish('/join', page.replace(' data-clicks>', ' data-clicks data-contacts>').replace('<h1>', `${form}<h1>`));
    const joinPage = await site.open('/join');
    await joinPage.locator('[name=contactEmailaddress]').fill('ann@shop.example');
    await joinPage.locator('[name=contactFirstname]').fill('Ann');
    await joinPage.getByRole('button', { name: 'Join' }).click();
    await expect.poll(async () => (await site.api.searchContact({})).contact.length).toBe(1);
    const { contact } = await site.api.searchContact({ contactEmailaddress: 'ann@shop.example' });
    const { event } = await site.api.getEvent({ contactUUID: contact[0]?.contactUUID as string });
    expect(event.map(({ eventName }) => eventName)).toEqual(
      expect.arrayContaining(['Bought', 'Added to basket', 'Page viewed']),
    );
  });

  test('works on a page that is opened as a file', async () => {
    const site = await openGuideSite('static-site.md');
    const file = join(temporaryFolder(), 'teapots.html');
    writeFileSync(file, site.blocks('html')[0] as string);
    const page = await site.open(pathToFileURL(file).href);
    await page.getByRole('button', { name: 'Buy' }).click();
    await expect
      .poll(async () => (await site.api.getEvent({})).event.map(({ eventName }) => eventName).toSorted())
      .toEqual(['Bought', 'Page viewed']);
  });

  test('explains in the browser’s console why no events arrive', async () => {
    const site = await openGuideSite('static-site.md');
    const [page = ''] = site.blocks('html');
    site.publish('/', page.replace(/data-token="\w+/, '$&-misspelt'));
    const consoleTexts: string[] = [];
    site.context.on('console', (message) => consoleTexts.push(message.text()));
    await site.open('/');
    await expect
      .poll(() => consoleTexts.join('\n'))
      .toMatch(/firsthand: invalid_token: .*\/docs\/errors#invalid_token/);
  });
});
