/**
 * Tests published clients of Segment's API with a server: each message arrives once, no matter what happens to requests
 * and servers.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Client, createClient } from '@firsthand/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAccount, serveHere } from '../fixtures/serving.ts';
import { times } from '../tools/counts.ts';
import { freePort } from '../tools/ports.ts';
import { report } from '../tools/report.ts';
import { createTestAccount, startServerProcess, stopServerProcess } from '../tools/server-process.ts';
import { publishedClients } from './tools/segment-clients.ts';

/** What happens to a request: the proxy forwards it, refuses it, or forwards it and cuts off the response. */
type Fate = 'passed' | 429 | 503 | 'cut';

/** A proxy that treats the first requests as specified by `fates`, and forwards all others. */
const listen = async (target: string, fates: Fate[]): Promise<string> => {
  const handle: RequestListener = async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const fate = fates.shift() ?? 'passed';
    if (typeof fate === 'number') return response.writeHead(fate, { 'Retry-After': '1' }).end('{}');
    const passed = ['authorization', 'content-type', 'content-encoding'].flatMap((name): [string, string][] => {
      const value = request.headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    });
    const body = Buffer.concat(chunks);
    const reply = await fetch(target + request.url, { method: 'POST', headers: passed, body });
    if (fate === 'cut') return response.destroy();
    return response.writeHead(reply.status, { 'Content-Type': 'application/json' }).end(await reply.text());
  };
  const proxy = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void proxy.close());
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
};

const anonymousId = 'browser-of-a-node-client';
const numbers = (count: number): number[] => Array.from({ length: count }, (_, nth) => nth);

/** Returns the numbers in the stored events of the contact or the anonymous user. */
const readNumbers = async (api: Client, named: { contactExternalID: string } | { userUUID: string }) => {
  const stored: number[] = [];
  let cursor: string | undefined;
  do {
    const page: Awaited<ReturnType<Client['getEvent']>> = await api.getEvent({ ...named, limit: 1_000, cursor });
    stored.push(...page.event.map(({ eventAttrArray }) => Number(eventAttrArray[0]?.attrValue)));
    cursor = page.nextCursor || undefined;
  } while (cursor !== undefined);
  return stored.sort((a, b) => a - b);
};

describe.each(Object.entries(publishedClients))('%s', (name, openClient) => {
  it.each<[string, Fate[]]>([
    ['in quiet', []],
    ['after 503 and 429', [503, 429]],
    ['after a response that was cut off', ['cut', 503]],
  ])('has each message stored once, %s', async (_, fates) => {
    const { url } = await serveHere();
    const { serverTokenUUID } = await createAccount(url);
    const client = openClient({ writeKey: serverTokenUUID, host: await listen(url, fates) });
    const sent = numbers(10).map((nth) => client.track({ anonymousId, event: 'Bought', properties: { nth } }));
    sent.push(client.identify({ anonymousId, userId: 'u-1', traits: { email: 'ann@shop.example' } }));
    const flushing = setInterval(() => client.flush(), 100);
    await Promise.all(sent).finally(() => clearInterval(flushing));
    const api = createClient({ url, token: serverTokenUUID });
    expect(await readNumbers(api, { contactExternalID: 'u-1' })).toEqual(numbers(10));
  });

  const kills = times({ quick: 3, full: 50 });
  it(`stores each message once despite ${kills} server kills`, async (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'firsthand-segment-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'firsthand.db');
    const token = await createTestAccount(path);
    const port = await freePort();
    let served = await startServerProcess(path, port);
    const client = openClient({ writeKey: token, host: served.url });
    const sent: Promise<void>[] = [];
    let acknowledged = 0;
    const sendOne = async (nth: number) => {
      await client.track({ anonymousId, event: 'Bought', properties: { nth } });
      acknowledged += 1;
    };
    const send = () => sent.push(sendOne(sent.length));
    const sending = setInterval(send, 3);
    for (let done = 0; done < kills; done += 1) {
      await wait(100 + Math.random() * 200);
      served.process.kill('SIGKILL');
      await served.ended;
      served = await startServerProcess(path, port);
      const api = createClient({ url: served.url, token });
      const before = acknowledged;
      expect((await readNumbers(api, { userUUID: anonymousId })).length).toBeGreaterThanOrEqual(before);
    }
    clearInterval(sending);
    const flushing = setInterval(() => client.flush(), 100);
    await Promise.all(sent).finally(() => clearInterval(flushing));
    const stored = await readNumbers(createClient({ url: served.url, token }), { userUUID: anonymousId });
    await stopServerProcess(served);
    expect(stored).toEqual(numbers(sent.length));
    report(context, {
      fault: `process killed under ${name}`,
      count: `${kills} × kill -9, ${sent.length} messages`,
      result: '0 lost, 0 twice',
      weakened: '—',
    });
  });
});
