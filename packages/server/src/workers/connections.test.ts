import { once } from 'node:events';
import { createServer as createHTTPServer } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { takeConnections } from './connections.ts';

it('a connection that is handed over is ended when it is too slow, like one that was accepted', async () => {
  const server = createHTTPServer({ headersTimeout: 100, requestTimeout: 100, connectionsCheckingInterval: 20 });
  const before = process.listeners('message');
  takeConnections(server, { onStop: () => {}, tell: () => {} });
  const [take] = process.listeners('message').filter((listener) => !before.includes(listener));
  onTestFinished(() => {
    process.off('message', take as () => void);
    server.close();
  });
  const door = createServer({ pauseOnConnect: true }, (socket) => take?.('connection', socket)).listen(0, '127.0.0.1');
  onTestFinished(() => void door.close());
  await once(door, 'listening');
  const client = connect((door.address() as AddressInfo).port, '127.0.0.1');
  client.write('GET / HTTP/1.1\r\n');
  let received = '';
  client.setEncoding('latin1').on('data', (text) => {
    received += text;
  });
  // Node 24 resets the connection behind its answer.
  client.on('error', () => {});
  await new Promise((resolve) => client.once('close', resolve));
  expect(received).toMatch(/^HTTP\/1\.1 408 /);
});
