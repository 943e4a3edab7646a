/** Segment's client for Node against a server: events arrive once, no matter what happens to requests and responses. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '@firsthand/client';
import { Analytics } from '@segment/analytics-node';
import { expect, it, onTestFinished } from 'vitest';
import { createAccount, serveHere } from '../fixtures/serving.ts';

/** The fate of a request on its way: it is forwarded, refused, or forwarded with its response cut off. */
type Fate = 'passed' | 429 | 503 | 'cut';

/** A proxy that treats the first requests as `fates` specifies, and forwards the others. */
const listen = async (target: string, fates: Fate[]): Promise<string> => {
  const answer: RequestListener = async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const fate = fates.shift() ?? 'passed';
    if (typeof fate === 'number') return response.writeHead(fate, { 'Retry-After': '1' }).end('{}');
    const { authorization = '', 'content-type': type = '' } = request.headers;
    const reply = await fetch(target + request.url, {
      method: 'POST',
      headers: { authorization, 'content-type': type },
      body: Buffer.concat(chunks),
    });
    if (fate === 'cut') return response.destroy();
    return response.writeHead(reply.status, { 'Content-Type': 'application/json' }).end(await reply.text());
  };
  const proxy = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void proxy.close());
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
};

it.each<[string, Fate[]]>([
  ['in quiet', []],
  ['after 503 and 429', [503, 429]],
  ['after a response that was cut off', ['cut', 503]],
])('stores each message of @segment/analytics-node once, %s', async (_, fates) => {
  const { url } = await serveHere();
  const { serverTokenUUID } = await createAccount(url);
  const analytics = new Analytics({ writeKey: serverTokenUUID, host: await listen(url, fates), flushAt: 5 });
  const faults: unknown[] = [];
  analytics.on('error', (error) => faults.push(error));
  for (let nth = 0; nth < 10; nth += 1)
    analytics.track({ anonymousId: 'browser-of-a-node-client', event: 'Bought', properties: { nth } });
  analytics.identify({ anonymousId: 'browser-of-a-node-client', userId: 'u-1', traits: { email: 'ann@shop.example' } });
  await analytics.closeAndFlush();
  expect(faults).toEqual([]);
  const api = createClient({ url, token: serverTokenUUID });
  const { event } = await api.getEvent({ contactExternalID: 'u-1' });
  expect(event.map(({ eventAttrArray }) => Number(eventAttrArray[0]?.attrValue)).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 10 }, (_, nth) => nth),
  );
});
