/** Writes all of an account's events to a new folder, each with its current owner. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from '../../reports/engine/sql.ts';
import type { EventPage } from '../../store/store.ts';
import { ownedEvents, selectListOf } from './columns.ts';
import { writeInParts } from './event-parts.ts';
import { spillName, sync, withParquetWriter } from './parquet-writer.ts';
import { positionName } from './position.ts';

interface ExportedFiles {
  readonly files: readonly string[];
  readonly events: number;
}

/**
 * Writes pages of events to `events-00001.parquet`, `events-00002.parquet` and so on. A file is renamed to its final
 * name once it is complete. Rejects unless the folder is empty or new.
 */
export const exportAllEvents = async (
  folder: string,
  pages: AsyncIterable<Pick<EventPage, 'events'>>,
  maxEvents?: number,
): Promise<ExportedFiles> => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const existing = await readdir(folder);
  if (existing.includes(positionName))
    throw new Error(`${folder} has an earlier export: continue it with --since last, or choose a new folder`);
  if (existing.length > 0) throw new Error(`${folder} is not empty: choose a new folder`);
  const files: string[] = [];
  try {
    const events = await withParquetWriter(folder, async (writer) => {
      const write = async () => {
        const file = `events-${String(files.length + 1).padStart(5, '0')}.parquet`;
        await writer.writeFile(join(folder, file), sql`SELECT ${selectListOf(ownedEvents)} FROM events`);
        files.push(file);
      };
      const written = await writeInParts(writer, ownedEvents, pages, write, maxEvents);
      // An account without events gets a file without rows, which tools can read.
      if (files.length === 0) await write();
      return written;
    });
    await rm(join(folder, spillName), { recursive: true, force: true });
    await sync(folder);
    return { files, events };
  } catch (error) {
    const names = await readdir(folder);
    await Promise.all(names.map((name) => rm(join(folder, name), { recursive: true, force: true })));
    throw error;
  }
};
