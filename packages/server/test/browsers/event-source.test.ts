/** Tests a browser's EventSource that is connected to a site's server, which relays the stream. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '@firsthand/client';
import { expect, onTestFinished, test } from 'vitest';
import { launchChromium } from '../../../tracker/test/chromium.ts';
import { createAccount, serveHere, userUUID } from '../fixtures/serving.ts';

test('restarts the stream from the beginning for an EventSource disconnected before its first event', async () => {
  const { url } = await serveHere();
  const { serverTokenUUID } = await createAccount(url);
  const client = createClient({ url, token: serverTokenUUID });
  const positions: (string | string[] | undefined)[] = [];
  const site = createServer(async ({ url: path, headers }, response) => {
    if (path !== '/stream') return response.setHeader('Content-Type', 'text/html').end('<!doctype html>');
    const position = headers['last-event-id'];
    positions.push(position);
    // Logs the event that the page would otherwise miss.
    if (positions.length === 2) await client.logEvent({ eventID: 7, userUUID });
    const stream = await fetch(`${url}/event/streamEvents`, {
      headers: {
        Authorization: `Bearer ${serverTokenUUID}`,
        ...(position === undefined ? {} : { 'Last-Event-ID': String(position) }),
      },
    });
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('retry: 10\n\n');
    for await (const bytes of stream.body ?? []) {
      response.write(bytes);
      // Disconnects here: before the first event, the stream sends only its position.
      if (positions.length === 1) break;
    }
    response.end();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    site.closeAllConnections();
    site.close();
  });
  await once(site, 'listening');
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
    const eventID = await page.evaluate(
      () =>
        new Promise((resolve) => {
          const stream = new EventSource('/stream');
          stream.addEventListener('event', (event) => resolve(JSON.parse((event as MessageEvent).data).eventID));
        }),
    );
    expect([eventID, positions]).toEqual([7, [undefined, expect.stringMatching(/^[\w-]+$/)]]);
  } finally {
    await browser.close();
  }
});
