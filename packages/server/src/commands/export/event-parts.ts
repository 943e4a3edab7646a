/** Reads an account's events page by page, and writes them in parts that fit in memory. */
import type { EventPage, RequestOf, Store, StoredEvent } from '../../store/store.ts';
import type { Column } from './columns.ts';
import type { ParquetWriter } from './parquet-writer.ts';

const eventsPerPage = 1_000;

/** Reads events in the order in which they were stored, each with its owner at the time its page is read. */
export async function* readEventPages(
  store: Store,
  query: Pick<RequestOf<'getEvents'>, 'account' | 'beyond' | 'from'>,
): AsyncGenerator<EventPage> {
  for (let beyond = query.beyond; ; ) {
    const read = await store.getEvents({ ...query, order: 'asc', limit: eventsPerPage, beyond });
    yield read;
    if (read.next === null) return;
    beyond = read.next;
  }
}

const maxEventsPerFile = 1_000_000;
const maxBytes = 128 * 1024 * 1024;

/** About how many bytes an event takes in a table. */
const measureEvent = ({ attributes }: StoredEvent): number =>
  attributes.reduce((sum, [attrID, attrValue]) => sum + attrID.length + attrValue.length + 32, 200);

/** Buffers events in the table `events`, and calls `write` when it is full and at the end. */
export const writeInParts = async (
  writer: ParquetWriter,
  columns: readonly Column<StoredEvent>[],
  pages: AsyncIterable<Pick<EventPage, 'events'>>,
  write: () => Promise<void>,
  maxEvents = maxEventsPerFile,
): Promise<number> => {
  let total = 0;
  let events = 0;
  let bytes = 0;
  const flush = async () => {
    await write();
    await writer.createTable('events', columns);
    events = 0;
    bytes = 0;
  };
  await writer.createTable('events', columns);
  for await (const page of pages) {
    await writer.append('events', columns, page.events);
    total += page.events.length;
    events += page.events.length;
    for (const event of page.events) bytes += measureEvent(event);
    if (events >= maxEvents || bytes >= maxBytes) await flush();
  }
  if (events > 0) await flush();
  return total;
};
