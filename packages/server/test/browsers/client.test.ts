/** Tests the client on a page from another origin, with a browser token. */
import { fileURLToPath } from 'node:url';
import type { createClient } from '@firsthand/client';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { launchChromium } from '../../../tracker/test/chromium.ts';
import { createAccount, serveHere, userUUID } from '../fixtures/serving.ts';

declare const client: { createClient: typeof createClient };

test('lets a page from another origin log events and read by handle, but only with a browser token', async () => {
  const { url } = await serveHere();
  const elsewhere = await serveHere();
  const { browserTokenUUID, serverTokenUUID } = await createAccount(url);
  const bundle = await build({
    entryPoints: [fileURLToPath(new URL('../../../client/src/index.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'client',
    logLevel: 'silent',
  });
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.goto(`${elsewhere.url}/healthz`);
    await page.addScriptTag({ content: bundle.outputFiles[0]?.text ?? '' });
    const result = await page.evaluate(
      async ([url, browserToken, serverToken, userUUID]) => {
        const here = client.createClient({ url, token: browserToken });
        const logged = await here.logEvent({ eventID: 3, userUUID, eventTime: new Date() });
        const contactEmailaddress = 'ann@shop.example';
        const created = await here.createContact({ userUUID, contactEmailaddress, contactProfileID: 'customer' });
        const { contact } = await here.getContact({ contactUUID: created.contactUUID });
        const codeOf = (request: Promise<unknown>) => request.then(String, ({ code }: { code: string }) => code);
        return {
          status: logged.status,
          address: contact.contactEmailaddress,
          secret: await codeOf(client.createClient({ url, token: serverToken }).logEvent({ eventID: 3, userUUID })),
          reading: await codeOf(client.createClient({ url, token: browserToken, retries: 0 }).getEvent({})),
        };
      },
      [url, browserTokenUUID, serverTokenUUID, userUUID] as const,
    );
    // Pages can't read other operations' responses (CORS), so the client reports the service as unreachable.
    expect(result).toEqual({
      status: '200',
      address: 'ann@shop.example',
      secret: 'server_token_in_browser',
      reading: 'unreachable',
    });
  } finally {
    await browser.close();
  }
});
