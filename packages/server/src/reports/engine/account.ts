/**
 * The process's copy of an account: events, owners and erasures. Functions that change it must not run concurrently;
 * reports can run at any time.
 */
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { EventFeedPage, OwnerFeedPage } from '../../store/report-feed.ts';
import type { EngineSettings } from '../messages.ts';
import { withConnection } from './database.ts';
import { createColumns } from './files/columns.ts';
import { createErasures } from './files/erasures.ts';
import { openEvents } from './files/events.ts';
import { createFiles } from './files/files.ts';
import { createParquetFiles, skipNumberOf } from './files/parquet-files.ts';
import { createVisitors, visitorColumns } from './files/visitors.ts';
import { createOwners } from './owners.ts';
import type { Snapshot } from './source.ts';

/**
 * The fraction of a full file below which the tail is not written when the process ends: the next process then reads
 * these events from the store.
 */
const minFileShare = 0.01;

/** Tracks running reports, because the files and tables that they read must not be deleted. */
const createReaders = () => {
  const readers = new Set<Promise<unknown>>();
  return {
    done: () => Promise.allSettled([...readers]),
    /** Prevents the files and tables that `read` uses from being deleted until it settles. */
    track<Value>(read: () => Promise<Value>): Promise<Value> {
      const result = read();
      const done = result.finally(() => readers.delete(done));
      readers.add(done);
      done.catch(() => {});
      return result;
    },
  };
};

/**
 * Opens an account's files and creates its tables. If any file is damaged, deletes all of them; the account is then
 * empty.
 */
export const openAccount = async (
  instance: DuckDBInstance,
  account: number,
  settings: Pick<EngineSettings, 'eventsPerFile' | 'memoryBytes'>,
) => {
  const files = createFiles(String(account));
  const readers = createReaders();
  const work = <Value>(use: (connection: DuckDBConnection) => Promise<Value>) => withConnection(instance, use);

  const manifest = await files.open();
  const parquetFiles = createParquetFiles(files, work, settings.memoryBytes);
  const erasures = createErasures(account, manifest?.firstSequence ?? 0, manifest?.cutUntil ?? 0);
  const visitors = createVisitors(account, manifest?.broken ?? []);
  const owners = createOwners(account, manifest);
  const columns = createColumns([...(manifest?.attributes ?? [])]);
  const storedFiles = manifest?.events ?? [];
  let through = manifest?.through ?? 0;
  let position: string | null = manifest?.position ?? null;
  for (const { name } of manifest ? [...storedFiles, manifest.owners, manifest.merged] : []) skipNumberOf(name);

  const events = await openEvents({ account, storedFiles, parquetFiles, erasures, work, settings });
  await work(async (connection) => {
    await owners.load(connection, parquetFiles.read);
    await visitors.load(connection, events.selectAll(visitorColumns));
  });

  /** Writes the manifest, then deletes the files that it no longer lists. */
  const commit = async (replaced: readonly string[]): Promise<void> => {
    if (owners.stored === null) throw new Error('the owners were not written');
    await files.writeManifest({
      version: 4,
      attributes: columns.attributes,
      ...events.stored,
      ...owners.stored,
      ...erasures.stored,
      broken: visitors.broken(),
    });
    await readers.done();
    await files.remove(replaced);
  };
  /** Writes the tail to a file. */
  const flush = async (): Promise<void> => {
    if (events.tailEvents === 0 || position === null) return;
    // Writes the owners only if no file contains erased events. Otherwise, the stored position stays before the
    // erasures, so that the feed returns them again after a crash.
    const replacedOwners = events.isPurged() ? await owners.write(parquetFiles, position) : [];
    const { names, dropTail } = await events.writeTail();
    await commit([...names, ...replacedOwners]);
    await work(dropTail);
  };

  return {
    get progress() {
      return { through, position };
    },
    readLast: events.readLast,
    async append(fed: EventFeedPage): Promise<void> {
      await work(async (connection) => {
        if (fed.count > 0) {
          const rows = events.selectAll(visitorColumns);
          const sessions = await visitors.number(connection, fed, rows, erasures);
          await events.append(connection, columns, fed, sessions);
        }
        await erasures.beginAt(connection, fed.firstSequence, events.selectAll(['sequence', 'eventTime']));
      });
      through = fed.through;
      if (events.isTailFull()) await flush();
    },
    async applyOwners(fed: OwnerFeedPage): Promise<void> {
      await work(async (connection) => {
        await owners.apply(connection, fed);
        const erased = await erasures.note(connection, fed.erased);
        await visitors.breakUp(connection, erased, {
          rows: events.selectAll(['sequence', 'user', 'contact']),
          isUndone: erasures.isUndone,
        });
        position = fed.position;
        if (!fed.more) await erasures.endRound(connection, events.purgeTail);
      });
    },
    /** Whether a file might contain erased events. */
    isPurgeDue: () => !events.isPurged(),
    /** Removes erased events from one file or, once all files are clean, from memory. */
    async purgeStep(): Promise<'removed' | 'examined' | 'done'> {
      if (await events.purgeTail()) return 'done';
      const replaced = await events.purgeFile();
      if (replaced === null) return 'examined';
      await commit([replaced]);
      return 'removed';
    },
    /** Call it within `readers.track`. */
    snapshot(): Snapshot {
      const { bounds, irregular } = visitors.snapshot();
      return {
        columns,
        person: owners.personOf(bounds.contact > 0),
        through,
        ...events.snapshot(through),
        irregular,
        bounds,
        cutUntil: erasures.stored.cutUntil,
        memoryBytes: settings.memoryBytes,
        highestContact: async (connection) => Math.max(bounds.contact, await owners.highestContact(connection)),
      };
    },
    readers,
    /** Writes the tail, unless it is small. */
    async save(): Promise<void> {
      if (events.tailEvents >= minFileShare * settings.eventsPerFile) await flush();
    },
    /** Frees memory but keeps the files. */
    async close(): Promise<void> {
      await readers.done();
      await work(async (connection) => {
        for (const part of [events, owners, erasures, visitors]) await part.drop(connection);
      });
    },
    areFilesUntouched: files.areUntouched,
    areFilesWhole: files.areWhole,
    deleteFiles: files.discard,
  };
};
export type Account = Awaited<ReturnType<typeof openAccount>>;
