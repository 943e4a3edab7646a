/**
 * Measures how fast contacts are created in an account with a million contacts. Times createContact over HTTP, for new
 * visitors with new addresses, compared with single events on the same server.
 *
 * Responses to browser tokens are delayed to multiples of 10 ms (decision 6). With 256 connections, this does not limit
 * the rate.
 */
import { browserToken, serverToken } from '../account.ts';
import type { Options, Row } from '../benchmark.ts';
import { withCopy } from '../cached-database.ts';
import { startLoad } from '../processes/loads.ts';
import { startServer } from '../processes/servers.ts';
import { openContacts } from '../stored-contacts.ts';
import { median, ratio, whole } from '../table.ts';

const connections = 256;

export const run = async ({ quick }: Options): Promise<Row[]> => {
  const contacts = await openContacts(quick ? 20_000 : 1_000_000);
  const rounds = quick ? 1 : 3;
  const milliseconds = quick ? 700 : 5_000;
  return withCopy(contacts, async (path) => {
    const server = await startServer('durable', path);
    const load = await startLoad();
    const figures = { event: [] as number[], server: [] as number[], browser: [] as number[] };
    try {
      const measureRate = async (token: string, request: 'contact' | { events: number }) => {
        const result = await load.run({ port: server.port, token, connections, request, milliseconds });
        return result.requestsPerSecond;
      };
      await measureRate(serverToken, 'contact');
      for (let round = 0; round < rounds; round += 1) {
        figures.event.push(await measureRate(serverToken, { events: 1 }));
        figures.server.push(await measureRate(serverToken, 'contact'));
        figures.browser.push(await measureRate(browserToken, 'contact'));
      }
    } finally {
      load.stop();
      await server.stop();
    }
    const stored = whole(contacts.about.contacts);
    return (['server', 'browser'] as const).map((kind) => ({
      measured: `createContact/s with a ${kind} token at ${stored} contacts vs. logEvent`,
      floor: whole(median(figures.event)),
      ours: whole(median(figures[kind])),
      ratio: ratio(median(figures[kind]), median(figures.event)),
      bar: '≥ 3,000',
    }));
  });
};
