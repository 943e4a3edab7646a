// Stands before a PostgreSQL, as a socket, and cuts connections when the COMMIT of a write passes: before PostgreSQL gets it, or after
// it was done.
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';

const commit = Buffer.from('COMMIT\0');
const begin = Buffer.from('BEGIN');
const readOnly = Buffer.from('READ ONLY');
const socketIn = (folder: string) => join(folder, '.s.PGSQL.5432');

export interface CuttingProxy {
  /** How often a commit was cut off before it was done, and after. */
  readonly cuts: { readonly before: number; readonly after: number };
  close(): Promise<void>;
}

/**
 * Listens in `folder` for the PostgreSQL whose socket is in `target`, and cuts a share of the commits while `isCutting` says so.
 */
export const openCuttingProxy = async (
  folder: string,
  target: string,
  { share, isCutting }: { share: number; isCutting: () => boolean },
): Promise<CuttingProxy> => {
  const cuts = { before: 0, after: 0 };
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const postgres = connect(socketIn(target));
    const end = () => {
      client.destroy();
      postgres.destroy();
    };
    let isDone = false;
    let isReading = false;
    for (const socket of [client, postgres]) {
      open.add(socket);
      socket.on('error', end).on('close', () => {
        open.delete(socket);
        end();
      });
    }
    client.on('data', (bytes) => {
      if (bytes.includes(begin)) isReading = bytes.includes(readOnly);
      if (bytes.includes(commit) && !isReading && isCutting()) {
        if (Math.random() < share) {
          if (Math.random() < 0.5) {
            cuts.before += 1;
            end();
            return;
          }
          isDone = true;
        }
      }
      postgres.write(bytes);
    });
    postgres.on('data', (bytes) => {
      // The tag of its answer is the same word.
      if (isDone && bytes.includes(commit)) {
        cuts.after += 1;
        end();
      } else client.write(bytes);
    });
  });
  mkdirSync(folder, { recursive: true });
  await new Promise<void>((resolve) => server.listen(socketIn(folder), resolve));
  chmodSync(folder, 0o755);
  chmodSync(socketIn(folder), 0o777);
  return {
    cuts,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      rmSync(socketIn(folder), { force: true });
    },
  };
};
