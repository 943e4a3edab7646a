/**
 * Measures PostgreSQL without our store: inserts the same rows into a table without an index, with a commit per batch,
 * on several connections.
 */
import pg from 'pg';
import type { NewEvent } from '../src/store/store.ts';

const insert = `
  INSERT INTO bare (user_number, event_id, event_uuid, time, attributes)
  SELECT * FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::bigint[], $5::jsonb[])`;

export const openBareInserts = async (databaseURL: string, connections: number) => {
  const clients = Array.from({ length: connections }, () => new pg.Client(databaseURL));
  await Promise.all(clients.map((client) => client.connect()));
  await clients[0]?.query(
    'CREATE TABLE bare (user_number bigint, event_id integer, event_uuid text, time bigint, attributes jsonb)',
  );
  const insertAll = (client: pg.Client, events: readonly NewEvent[]) =>
    client.query({
      name: 'insert',
      text: insert,
      values: [
        events.map(({ userUUID }) => Number((userUUID as string).slice('user_'.length))),
        events.map(({ eventID }) => eventID),
        events.map(({ eventUUID }) => eventUUID),
        events.map(({ eventTime }) => eventTime),
        events.map(({ attributes }) => JSON.stringify(attributes.flat())),
      ],
    });
  return {
    /** Inserts batches on all connections for the given time. Returns the number of events per second. */
    async run(nextBatch: () => readonly NewEvent[], milliseconds: number): Promise<number> {
      const startTime = performance.now();
      let inserted = 0;
      await Promise.all(
        clients.map(async (client) => {
          while (performance.now() - startTime < milliseconds) {
            const batch = nextBatch();
            await insertAll(client, batch);
            inserted += batch.length;
          }
        }),
      );
      return (inserted / (performance.now() - startTime)) * 1_000;
    },
    close: () => Promise.all(clients.map((client) => client.end())),
  };
};
