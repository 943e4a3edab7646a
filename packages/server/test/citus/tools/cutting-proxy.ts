// A proxy in front of a PostgreSQL socket that cuts connections at a write's COMMIT: before PostgreSQL receives it,
// after PostgreSQL has executed it, or half a second before PostgreSQL receives it, as on a network that delivers late.
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';

const commit = Buffer.from('COMMIT\0');
const begin = Buffer.from('BEGIN');
const readOnly = Buffer.from('READ ONLY');
const socketIn = (folder: string) => join(folder, '.s.PGSQL.5432');
const lateMilliseconds = 500;

const ways = ['before', 'after', 'late'] as const;
type Way = (typeof ways)[number];

export interface CuttingProxy {
  /** How many connections were cut at each of these points. */
  readonly cuts: Readonly<Record<Way, number>>;
  close(): Promise<void>;
}

/**
 * Listens in `folder` in place of the PostgreSQL server whose socket is in `target`, and cuts a share of the commits
 * while `isCutting()` returns true.
 */
export const openCuttingProxy = async (
  folder: string,
  target: string,
  { share, isCutting }: { share: number; isCutting: () => boolean },
): Promise<CuttingProxy> => {
  const cuts = { before: 0, after: 0, late: 0 };
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const postgres = connect(socketIn(target));
    let way: Way | undefined;
    let isReading = false;
    const end = () => {
      client.destroy();
      if (way !== 'late') postgres.destroy();
    };
    for (const socket of [client, postgres]) {
      open.add(socket);
      socket.on('error', end).on('close', () => {
        open.delete(socket);
        end();
      });
    }
    client.on('data', (bytes) => {
      if (bytes.includes(begin)) isReading = bytes.includes(readOnly);
      if (bytes.includes(commit) && !isReading && isCutting() && Math.random() < share) {
        way = ways[Math.floor(Math.random() * ways.length)] as Way;
        if (way !== 'after') {
          cuts[way] += 1;
          end();
          if (way === 'late') setTimeout(() => postgres.end(bytes), lateMilliseconds);
          return;
        }
      }
      postgres.write(bytes);
    });
    postgres.on('data', (bytes) => {
      // The response's command tag is COMMIT too.
      if (way === 'after' && bytes.includes(commit)) {
        cuts.after += 1;
        end();
      } else if (way !== 'late') client.write(bytes);
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
