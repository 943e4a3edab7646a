/**
 * Follows packages/docs/wordpress.md: the plugin runs in WordPress on PHP's built-in web server, and Chromium visits
 * the site.
 */
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { start, temporaryFolder } from '../fixtures/command.ts';
import { describeGuide, type GuideSite, openGuideSite } from '../tools/guide-site.ts';
import { freePort } from '../tools/ports.ts';

const wordpress = process.env.WORDPRESS_PATH ?? '/usr/share/wordpress';
const here = fileURLToPath(new URL('wordpress/', import.meta.url));

/** Starts WordPress with the guide's plugin and block. Returns its URL. */
const serveWordPress = async (site: GuideSite): Promise<string> => {
  const folder = temporaryFolder();
  const content = join(folder, 'wp-content');
  const [theme, plugins] = [join(content, 'themes/shop'), join(content, 'mu-plugins')];
  for (const subfolder of [theme, plugins]) mkdirSync(subfolder, { recursive: true });
  for (const name of ['wp-admin', 'wp-includes', 'wp-settings.php'])
    symlinkSync(join(wordpress, name), join(folder, name));
  copyFileSync(join(here, 'index.php'), join(folder, 'index.php'));
  copyFileSync(join(here, 'db.php'), join(content, 'db.php'));
  copyFileSync(join(here, 'theme.php'), join(theme, 'index.php'));
  writeFileSync(join(theme, 'style.css'), '/* Theme Name: Shop */');
  writeFileSync(join(theme, 'block.html'), site.blocks('html')[0] as string);
  const [plugin, , addition] = site.blocks('php');
  writeFileSync(join(plugins, 'firsthand.php'), `${plugin}\n${addition}`);

  const address = `127.0.0.1:${await freePort()}`;
  const options = ['-d', 'display_errors=1', '-S', address, join(folder, 'index.php')];
  const running = start('timeout', ['300', '/usr/bin/php', ...options], site.env);
  onTestFinished(async () => {
    running.child.kill('SIGTERM');
    await running.ended;
  });
  await running.waitForOutput(/ started$/m);
  return `http://${address}/`;
};

describeGuide('wordpress.md', () => {
  test('logs page views and clicks, and links signed-in visitors to their contacts', async () => {
    const site = await openGuideSite('wordpress.md');
    const url = await serveWordPress(site);
    const page = await site.open(url);
    expect(await page.content()).not.toMatch(/<b>(?:Warning|Notice|Fatal error|Deprecated)<\/b>/);
    await expect.poll(() => site.requests).toContain('POST /s/update');
    await page.getByRole('button').click();
    await site.expectPrinted();

    const { event } = await site.api.getEvent({});
    await site.open(`${url}?sign-in`);
    await site.expectPrinted(1);
    const { contact } = await site.api.searchContact({ contactEmailaddress: 'ann@shop.example' });
    const contactUUID = contact[0]?.contactUUID as string;
    const ownedUUIDs = (await site.api.getEvent({ contactUUID })).event.map(({ eventUUID }) => eventUUID);
    expect(ownedUUIDs).toEqual(expect.arrayContaining(event.map(({ eventUUID }) => eventUUID)));
    const { link } = await site.api.getContact({ contactUUID, include: 'link' });
    expect(link).toMatchObject([{ verified: true }]);
  });
});
