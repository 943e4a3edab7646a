/** Finds free ports for tests' servers. Each test process reserves a block of ports. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

const firstPort = 11_000;
const portsPerBlock = 500;
const blocks = 40;

/** Listens on a port. Returns undefined if the port is in use. */
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
 * Reserves a block of ports by listening on its first port until this process exits. Without blocks, two processes
 * could find the same free port, and one of them would send its requests to the other's server.
 */
const reserveBlock = async (): Promise<number> => {
  for (let tries = 0; tries < blocks; tries += 1) {
    const first = firstPort + ((process.pid + tries) % blocks) * portsPerBlock;
    const holder = await tryToListen(first);
    holder?.unref();
    if (holder) return first;
  }
  throw new Error('no block of ports is free');
};

/** Returns a function that finds free ports in one block. Its first call reserves the block. */
export const createPortFinder = (): (() => Promise<number>) => {
  let block: Promise<number> | undefined;
  let offset = 0;
  return async () => {
    block ??= reserveBlock();
    const first = await block;
    for (let tries = 1; tries < portsPerBlock; tries += 1) {
      offset += 1;
      const port = first + 1 + (offset % (portsPerBlock - 1));
      const probe = await tryToListen(port);
      if (!probe) continue;
      await new Promise((resolve) => probe.close(resolve));
      return port;
    }
    throw new Error('no port is free');
  };
};

/** Finds a free port. The port stays free, because the kernel does not assign ports in this range. */
export const freePort = createPortFinder();
