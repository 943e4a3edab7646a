/** The event files in the folder of an incremental export: `events/day=2026-11-30/<first sequence>.parquet`. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { clause, literal, type SQL, sql } from '../../reports/engine/sql.ts';
import type { EventPage, StoredEvent } from '../../store/store.ts';
import { rawEvents, selectListOf } from './columns.ts';
import { writeInParts } from './event-parts.ts';
import { draftSuffix, type ParquetWriter, sync } from './parquet-writer.ts';

const subfolder = 'events';
const fileName = (first: number): string => `${String(first).padStart(15, '0')}.parquet`;
const firstOf = (name: string): number => Number.parseInt(name, 10);

export const createEventFiles = (folder: string, writer: ParquetWriter) => {
  const root = join(folder, subfolder);
  const changedFolders = new Set<string>();
  /** Files without rows. They are deleted only after the position, which doesn't count them, is written. */
  const emptied = new Set<string>();
  const glob = literal(join(root, '*', '*.parquet'));

  const list = async (): Promise<{ path: string; first: number }[]> => {
    const names = await readdir(root, { recursive: true }).catch(() => []);
    return names
      .filter((name) => /[\\/]\d+\.parquet(\.part)?$/.test(name))
      .map((name) => ({ path: join(root, name), first: firstOf(name.split(/[\\/]/).at(-1) as string) }));
  };
  const write = async (day: string, first: number, query: SQL): Promise<void> => {
    const dayFolder = join(root, `day=${day}`);
    await mkdir(dayFolder, { recursive: true, mode: 0o700 });
    await writer.writeFile(join(dayFolder, fileName(first)), query);
    changedFolders.add(dayFolder);
  };
  /** Writes the events in the table `events` to one file per day. */
  const writeDays = async (): Promise<void> => {
    const day = clause`epoch_ms("eventTime")::DATE::VARCHAR`;
    const days = await writer.query(
      sql`SELECT ${day} AS day, min(sequence) AS first FROM events GROUP BY ALL ORDER BY ALL`,
    );
    for (const { day: each, first } of days)
      await write(
        String(each),
        Number(first),
        sql`SELECT ${selectListOf(rawEvents)} FROM events WHERE ${day} = ${literal(String(each))}`,
      );
  };

  return {
    /** The events in all files, with the files' columns and `filename`. */
    all: clause`read_parquet(${glob}, filename = true, hive_partitioning = false)`,
    /** Deletes files with events after a sequence number, and incomplete files that a killed export left behind. */
    async removeAfter(through: number): Promise<void> {
      for (const { path, first } of await list())
        if (first > through || path.endsWith(draftSuffix)) await rm(path, { force: true });
    },
    count: async (): Promise<number> => (await list()).length - emptied.size,
    /** Whether a file has events before this sequence number. */
    haveBefore: async (sequence: number): Promise<boolean> =>
      (await list()).some(({ first }) => first > 0 && first < sequence),
    /** The last event. */
    async last(): Promise<Pick<StoredEvent, 'sequence' | 'eventUUID'> | undefined> {
      const [newest] = (await list()).sort((a, b) => b.first - a.first);
      if (!newest) return undefined;
      const [row] = await writer.query(
        sql`SELECT sequence, "eventUUID" FROM read_parquet(${literal(newest.path)}) ORDER BY sequence DESC LIMIT 1`,
      );
      return row && { sequence: Number(row.sequence), eventUUID: String(row.eventUUID) };
    },
    append: (pages: AsyncIterable<Pick<EventPage, 'events'>>, maxEvents?: number): Promise<number> =>
      writeInParts(writer, rawEvents, pages, writeDays, maxEvents),
    /** Writes a file without rows if there is none, because tools can't read a folder without files. */
    async ensureAny(): Promise<void> {
      if ((await this.count()) > 0) return;
      await writer.createTable('events', rawEvents);
      await write('1970-01-01', 0, sql`SELECT ${selectListOf(rawEvents)} FROM events`);
    },
    /** Rewrites files without the events `e` that meet a condition. Returns the number of removed events. */
    async remove(condition: SQL): Promise<number> {
      const affected = await writer.query(
        sql`SELECT filename, count(*) AS events FROM ${this.all} e WHERE ${condition} GROUP BY filename`,
      );
      for (const { filename } of affected) {
        const path = String(filename);
        const rest = sql`SELECT * FROM read_parquet(${literal(path)}, hive_partitioning = false) e WHERE NOT ${condition}`;
        const [{ events } = { events: 0 }] = await writer.query(sql`SELECT count(*) AS events FROM ${rest}`);
        await writer.writeFile(path, rest);
        if (Number(events) === 0) emptied.add(path);
        changedFolders.add(dirname(path));
      }
      return affected.reduce((sum, { events }) => sum + Number(events), 0);
    },
    async removeEmptied(): Promise<void> {
      for (const path of emptied) await rm(path);
    },
    async sync(): Promise<void> {
      for (const changed of [...changedFolders, root]) await sync(changed);
    },
  };
};
export type EventFiles = ReturnType<typeof createEventFiles>;
