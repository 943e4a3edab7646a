/** Ports for the servers of tests: each process that runs tests gives away its own. */
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
 * Takes a block of ports for this process, by listening on its first until the process ends. With a port that two took to be free,
 * one would ask the other's server until its own has started.
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

let block: Promise<number> | undefined;
let asked = 0;
/** Below the ports that the kernel gives away by itself, so that nobody else has it a moment later. */
export const freePort = async (): Promise<number> => {
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
