/**
 * Measures the bytes written to disk per event: the kernel's count for the server process (write_bytes, proc(5)), until
 * the server is idle.
 */
import { serverToken } from '../account.ts';
import type { Options, Row } from '../benchmark.ts';
import { withCopy } from '../cached-database.ts';
import { getFirstUser, openHistory } from '../history.ts';
import { shapes, startLoad } from '../processes/loads.ts';
import { writtenBytes } from '../processes/process.ts';
import { startServer } from '../processes/servers.ts';
import { settle } from '../settle.ts';
import { duration, whole } from '../table.ts';

export const run = async ({ events, minutes }: Options): Promise<Row[]> => {
  const history = await openHistory(events);
  const firstUser = getFirstUser(history);
  return withCopy(history, async (path) => {
    const server = await startServer('durable', path);
    const load = await startLoad();
    const rows: Row[] = [];
    try {
      for (const { events, connections } of shapes) {
        await settle(server.pid);
        const before = writtenBytes(server.pid);
        const milliseconds = (minutes / 2) * 60_000;
        const request = { events };
        const sent = await load.run({
          port: server.port,
          token: serverToken,
          connections,
          request,
          firstUser,
          milliseconds,
        });
        await settle(server.pid);
        const after = writtenBytes(server.pid);
        rows.push({
          measured: `${events} per request, for ${duration(minutes / 2)}: bytes written per event`,
          ours:
            before === undefined || after === undefined
              ? 'unknown on this system'
              : whole((after - before) / sent.events),
          bar: '≤ 2,048',
        });
      }
    } finally {
      load.stop();
      await server.stop();
    }
    return rows;
  });
};
