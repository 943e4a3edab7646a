import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openChannel } from './channel.ts';
import { NotAFrame } from './frames.ts';

/** Two ends of a pipe. */
const openPipe = async (): Promise<[Socket, Socket]> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const one = connect(port, '127.0.0.1');
  const [other] = (await once(server, 'connection')) as [Socket];
  server.close();
  onTestFinished(() => {
    one.destroy();
    other.destroy();
  });
  return [one, other];
};

const listen = () => ({ onMessage: vi.fn(), onParcel: vi.fn(), onEnd: vi.fn() });

it('carries messages and parcels in the order in which they were sent, and tells of the end once', async () => {
  const [one, other] = await openPipe();
  const heard = listen();
  const ours = openChannel<object, object>(one, listen());
  openChannel<object, object>(other, heard);
  const payload = new Uint8Array(100_000).fill(7);
  ours.send({ count: 1 });
  ours.sendParcel({ kind: 'commit', id: 5, bytes: 200, payload });
  ours.send({ count: 2 });
  await ours.end();
  await vi.waitFor(() => expect(heard.onEnd).toHaveBeenCalledExactlyOnceWith(undefined), { timeout: 20_000 });
  expect(heard.onMessage.mock.calls).toEqual([[{ count: 1 }], [{ count: 2 }]]);
  expect(heard.onParcel).toHaveBeenCalledOnce();
  const [parcel] = heard.onParcel.mock.calls[0] as [{ payload: Uint8Array }];
  expect(parcel).toMatchObject({ kind: 'commit', id: 5, bytes: 200 });
  expect(Buffer.compare(parcel.payload, payload)).toBe(0);
});

it('what is sent to an end that is gone goes nowhere', async () => {
  const [one, other] = await openPipe();
  const told = listen();
  const ours = openChannel<object, object>(one, told);
  other.destroy();
  await vi.waitFor(() => expect(told.onEnd).toHaveBeenCalledOnce(), { timeout: 20_000 });
  ours.send({ count: 1 });
  ours.sendParcel({ kind: 'commit', id: 1, bytes: 0, payload: new Uint8Array() });
  expect(told.onEnd).toHaveBeenCalledOnce();
});

it('ends when what comes in is no frame', async () => {
  const [one, other] = await openPipe();
  const told = listen();
  openChannel<object, object>(one, told);
  other.write(Buffer.alloc(13, 255));
  await vi.waitFor(() => expect(told.onEnd).toHaveBeenCalledExactlyOnceWith(expect.any(NotAFrame)), {
    timeout: 20_000,
  });
  expect(one.destroyed).toBe(true);
});
