import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '@firsthand/client';
import { expect, it, onTestFinished, vi } from 'vitest';
import { firsthand, firsthandJSON } from '../fixtures/command.ts';
import { createAccount, serveHere, userUUID } from '../fixtures/serving.ts';
import { soon } from '../fixtures/timeouts.ts';

it('lists webhooks and their messages, sends a test, and resends messages', async () => {
  let status = 500;
  const endpoint = createServer((_, response) => void response.writeHead(status).end('no database'));
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    endpoint.closeAllConnections();
    endpoint.close();
  });
  const endpointURL = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/`;
  const { url } = await serveHere({ WEBHOOK_ALLOW: '127.0.0.0/8' });
  const token = (await createAccount(url)).serverTokenUUID;
  const env = { FIRSTHAND_TOKEN: token };
  const client = createClient({ url, token });
  const { webhookID } = await client.createWebhook({ url: endpointURL, type: ['event.logged'] });
  const run = (...args: string[]) => firsthand(['webhook', ...args, '--url', url], env);

  expect(await run('test', webhookID)).toMatchObject({
    code: 1,
    stdout: 'the message failed: HTTP 500\nno database\n',
  });
  await client.logEvent({ userUUID, eventID: 1 });
  await vi.waitFor(
    async () => expect((await run('deliveries', webhookID, '--failed')).stdout).toMatch('HTTP 500'),
    soon,
  );
  const { stdout } = await run('deliveries', webhookID, '--after', '0');
  const [sequence = ''] = /^\d+(?= +event\.logged +retrying +1 )/m.exec(stdout) ?? [];
  expect(sequence).not.toBe('');
  expect((await run('list')).stdout).toContain(`${webhookID}  active  1         ${endpointURL}`);

  status = 204;
  expect((await run('test', webhookID)).stdout).toBe('the endpoint accepted the message (HTTP 204)\n');
  expect((await run('resend', webhookID, sequence)).stdout).toMatch(/^1 message up to sequence \d+ will be sent again/);
  await vi.waitFor(async () => {
    const listed = await firsthandJSON(['webhook', 'deliveries', webhookID, '--after', '0', '--url', url], env);
    expect(listed.delivery).toMatchObject([{ state: 'delivered' }]);
  }, soon);
  await client.updateWebhook({ webhookID, state: 'paused' });
  expect((await run('list')).stdout).toContain('paused');
  expect(await run('deliveries', webhookID, '--after', 'x')).toMatchObject({ code: 1 });
});
