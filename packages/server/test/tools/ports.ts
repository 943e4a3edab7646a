/** Free ports for the servers of tests. Each process that runs tests has a block of its own. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

const firstPort = 11_000;
const portsPerBlock = 500;
const blocks = 40;

/** Listens on the port; answers undefined when another has it. */
const tryToListen = async (port: number): Promise<Server | undefined> => {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
    return server;
  } catch (error) {
    if (['EADDRINUSE', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
};

/**
 * Takes a block of ports by listening on its first one until this process ends. Without blocks, two processes could find the same port
 * free; one of them would then send its requests to the other's server until its own has started.
 */
const takeBlock = async (): Promise<number> => {
  for (let tries = 0; tries < blocks; tries += 1) {
    const first = firstPort + ((process.pid + tries) % blocks) * portsPerBlock;
    const holder = await tryToListen(first);
    holder?.unref();
    if (holder) return first;
  }
  throw new Error('no block of ports is free');
};

/** Returns a function that returns free ports of one block. The block is taken at its first call. */
export const createPorts = (): (() => Promise<number>) => {
  let block: Promise<number> | undefined;
  let asked = 0;
  return async () => {
    block ??= takeBlock();
    const first = await block;
    for (let tries = 1; tries < portsPerBlock; tries += 1) {
      asked += 1;
      const port = first + 1 + (asked % (portsPerBlock - 1));
      const probe = await tryToListen(port);
      if (!probe) continue;
      await new Promise((resolve) => probe.close(resolve));
      return port;
    }
    throw new Error('no port is free');
  };
};

/** Returns a free port. The kernel does not assign ports of this range by itself, so the port stays free. */
export const freePort = createPorts();
