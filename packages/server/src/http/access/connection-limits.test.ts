import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createConnectionLimits } from './connection-limits.ts';

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanups.splice(0)) cleanUp();
});

const open = async ({
  trustProxy = [] as string[],
  maxPerAddress = 1_000,
  listener = (() => {}) as RequestListener,
}) => {
  const shares = createConnectionLimits(trustProxy, maxPerAddress);
  const server = createServer(
    shares.limitPipelining((incoming, outgoing) => {
      if (incoming.url === '/good') shares.vouch(incoming.socket);
      listener(incoming, outgoing);
    }),
  );
  shares.guard(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  cleanups.push(() => {
    server.close();
    server.closeAllConnections();
  });
  /** Opens a connection and immediately sends `text`. */
  return async (text: string) => {
    const socket = connect({ port, host: '127.0.0.1' });
    cleanups.push(() => socket.destroy());
    const client = { isOpen: true, received: '' };
    socket.on('data', (chunk) => {
      client.received += chunk;
    });
    socket
      .on('error', () => {})
      .on('close', () => {
        client.isOpen = false;
      });
    await once(socket, 'connect');
    if (text !== '') socket.write(text);
    return client;
  };
};

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const until = async (condition: () => boolean) => {
  for (let tries = 0; tries < 6_000 && !condition(); tries += 1) await wait(10);
  return condition();
};
const respondOK: RequestListener = (_, outgoing) => outgoing.end('x');

describe('connections from one address', () => {
  it('are closed, oldest first, beyond 100 without a valid token', async () => {
    const join = await open({ listener: respondOK });
    const good = await join(get('/good'));
    expect(await until(() => good.received !== '')).toBe(true);
    const [first, second] = [await join(''), await join('')];
    for (let nth = 0; nth < 99; nth += 1) await join('');
    expect(await until(() => !first.isOpen)).toBe(true);
    expect([good.isOpen, second.isOpen]).toEqual([true, true]);
  });

  it('are refused beyond the address’s maximum', async () => {
    const join = await open({ maxPerAddress: 3, listener: respondOK });
    const clients: Awaited<ReturnType<typeof join>>[] = [];
    for (let nth = 0; nth < 3; nth += 1) clients.push(await join(get('/good')));
    const refused = await join('');
    expect(await until(() => !refused.isOpen)).toBe(true);
    expect(clients.map(({ isOpen }) => isOpen)).toEqual([true, true, true]);
  });

  it('are unlimited for a trusted proxy', async () => {
    const join = await open({ maxPerAddress: 3, trustProxy: ['127.0.0.0/8'], listener: respondOK });
    const clients: Awaited<ReturnType<typeof join>>[] = [];
    for (let nth = 0; nth < 120; nth += 1) clients.push(await join(get('/')));
    expect(await until(() => clients.every(({ received }) => received !== ''))).toBe(true);
    expect(clients.every(({ isOpen }) => isOpen)).toBe(true);
  });
});

describe('pipelined requests', () => {
  it('close their connection if there are too many, so that later requests on it are not handled', async () => {
    let handled = 0;
    const listener: RequestListener = () => {
      handled += 1;
    };
    const join = await open({ listener });
    const client = await join(get('/').repeat(1_000));
    expect(await until(() => !client.isOpen)).toBe(true);
    expect(handled).toBe(5);
  });

  it('get responses if there are few', async () => {
    const join = await open({ listener: (_, outgoing) => void setImmediate(() => outgoing.end('x')) });
    const client = await join(get('/').repeat(4));
    expect(await until(() => client.received.split('HTTP/1.1').length === 5)).toBe(true);
    expect(client.isOpen).toBe(true);
  });
});
