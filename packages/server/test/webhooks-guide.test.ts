/** Follows docs/webhooks.md: creates a webhook, runs its receiver, and compares the examples with real messages. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { webhookTypes } from '@firsthand/contract/webhook';
import { expect, it, onTestFinished, vi } from 'vitest';
import { readBlocks, runBlock } from './fixtures/documents/guides.ts';
import { createAccount, serveHere } from './fixtures/serving.ts';
import { freePort } from './tools/ports.ts';

const [creation, receiver, testing, audience] = readBlocks('webhooks.md');
const text = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8');

/** The example data in the guide's table, by type. */
const examples = new Map(
  [...text.matchAll(/^\| `([a-z.]+)` \|.*\| `(\{.*\})` \|$/gm)].map(([, type, data]) => [
    type,
    JSON.parse(data as string),
  ]),
);

it('creates a webhook, verifies its messages, and shows an example for each type', async () => {
  const { url } = await serveHere({ WEBHOOK_ALLOW: '127.0.0.0/8' });
  const { serverTokenUUID } = await createAccount(url);
  const port = await freePort();
  const env = { FIRSTHAND_URL: url, SERVER_TOKEN: serverTokenUUID, RECEIVER_URL: `http://127.0.0.1:${port}/` };
  const { webhookID, secret } = JSON.parse(await runBlock(creation as never, env));

  let output = '';
  const runReceiver = (webhookSecret: string, receiverPort: number) => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', receiver?.code ?? ''], {
      cwd: fileURLToPath(new URL('..', import.meta.url)),
      env: { ...process.env, WEBHOOK_SECRET: webhookSecret, PORT: String(receiverPort) },
    });
    onTestFinished(() => void child.kill());
    child.stdout.on('data', (chunk) => (output += chunk));
  };
  runReceiver(secret, port);
  const post = async (path: string, fields: object) => {
    const headers = { Authorization: `Bearer ${serverTokenUUID}`, 'Content-Type': 'application/json' };
    const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(fields) });
    return (await response.json()) as Record<string, string>;
  };
  await vi.waitFor(async () => {
    const tested = JSON.parse(await runBlock(testing as never, { ...env, WEBHOOK: webhookID }));
    expect(tested).toMatchObject({ delivered: true, httpStatus: 204 });
  }, 20_000);
  expect(output).toContain('webhook.test');

  const userUUID = 'visitor-of-the-guide';
  await post('/event/logEvent', { userUUID, eventName: 'Bought' });
  const profile = { contactProfileID: 'customer' };
  const { contactUUID } = await post('/contact/createContact', {
    userUUID,
    contactEmailaddress: 'a@shop.example',
    ...profile,
  });
  const other = await post('/contact/createContact', { contactExternalID: 'customer-2', ...profile });
  await post('/contact/updateContact', { contactUUID, contactFirstname: 'Ann', contactStatus: 'unsubscribed' });
  await post('/contact/mergeContact', { contactUUID, otherContactUUID: other.contactUUID });
  await post('/contact/unmergeContact', { otherContactUUID: other.contactUUID });
  const { linkID } = await post('/contact/linkUser', { userUUID: 'another-visitor-here', contactUUID });
  await post('/contact/voidLink', { linkID });
  await post('/contact/voidLink', { linkID, restore: true });
  await vi.waitFor(() => expect(output).toContain('link.restored'), 20_000);

  const saveSegment = (filter: object) => post('/report/createSegment', { segmentName: 'Teapot buyers', filter });
  await saveSegment({ event: 'Bought' });
  const audiencePort = await freePort();
  const audienceEnv = { ...env, RECEIVER_URL: `http://127.0.0.1:${audiencePort}/` };
  runReceiver(JSON.parse(await runBlock(audience as never, audienceEnv)).secret, audiencePort);
  await vi.waitFor(() => expect(output).toContain('segment.entered'), 60_000);
  await saveSegment({ not: { event: 'Bought' } });
  await vi.waitFor(() => expect(output).toContain('segment.left'), 60_000);
  await post('/contact/eraseContact', { contactUUID: other.contactUUID });
  await vi.waitFor(() => expect(output).toContain('contact.erased'), 20_000);

  const received = new Map(
    [...output.matchAll(/^([a-z.]+) \d+ (\{.*\})$/gm)].map(([, type, data]) => [type, JSON.parse(data as string)]),
  );
  // The store suite creates these messages, which take an hour or a full account (conformance/accounts/webhooks.ts).
  const rare = ['request.refused', 'quota.near'];
  expect([...received.keys(), ...rare].sort()).toEqual([...webhookTypes].sort());
  expect([...examples.keys()].sort()).toEqual([...webhookTypes].sort());
  for (const [type, data] of received)
    expect([type, Object.keys(data).sort()]).toEqual([type, Object.keys(examples.get(type)).sort()]);
});
