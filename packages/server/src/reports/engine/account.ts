/**
 * The process's copy of an account: events in files, newer events in the table `tail_<account>_<number>`, owners and
 * erasures. Functions that change it must not run concurrently; questions may run at any time.
 */
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { EventFeedPage, FeedErasure, OwnerFeedPage } from '../../store/report-feed.ts';
import type { AccountState, EngineSettings } from '../messages.ts';
import type { Condition } from '../questions.ts';
import { withConnection } from './database.ts';
import { appendEvents } from './files/append-events.ts';
import { type Columns, createColumns, defineColumn, fixedColumns } from './files/columns.ts';
import { createErasures } from './files/erasures.ts';
import { createFiles, type EventFile, type StoredFile } from './files/files.ts';
import { createParquetFiles, nextNumber, selectRows, skipNumberOf } from './files/parquet-files.ts';
import { createVisitors, visitorColumns } from './files/visitors.ts';
import { createOwners } from './owners.ts';
import { integers, list, name, or, type SQL, sql } from './sql.ts';
import { run } from './statements.ts';

/** The tail is written to a file when it takes more than this fraction of the memory. */
const maxMemoryShare = 0.25;
/**
 * When the process ends, a tail smaller than this fraction of a full file is not written: the next process reads the
 * events from the store.
 */
const minFileShare = 0.01;

/** A condition on the event's person. */
export type PersonCondition = Extract<
  Condition,
  { readonly contacts: unknown } | { readonly did: unknown } | { readonly personFirst: unknown }
>;

/** A snapshot of the account that a question reads. */
export interface Source {
  readonly columns: Columns;
  /**
   * How to find the person of an event `e`. `owners` is the table of users owned by contacts, with the column `user`.
   */
  readonly person: {
    readonly joins: SQL;
    readonly person: SQL;
    /** Tables. */
    readonly owners: SQL;
    readonly merged: SQL;
  };
  /** Whether the person of an event `e` meets a condition (condition-people.ts). */
  isOf(condition: PersonCondition): SQL;
  /** A query of events with these columns. */
  select(names: readonly string[]): SQL;
  /** The same query in parts, in the order of sequences. */
  parts(names: readonly string[]): SQL[];
  /** The table of visitors whose sessions are not numbered, and their number (visits.ts). */
  readonly irregular: { readonly table: SQL; readonly visitors: number | 'all' };
  /** The highest numbers of users, logged contacts and sessions. */
  readonly bounds: { readonly user: number; readonly contact: number; readonly session: number };
  /** No event deleted by retention happened after this time. */
  readonly cutUntil: number;
  readonly memoryBytes: number;
  /** The highest number of a contact that was logged with an event or owns events. */
  greatestContact(connection: DuckDBConnection): Promise<number>;
  readonly through: number;
}

/**
 * Opens an account's files and creates its tables. If files are damaged, deletes all of them; the account is then
 * empty.
 */
export const openAccount = async (
  instance: DuckDBInstance,
  account: number,
  { eventsOfFile, memoryBytes }: Pick<EngineSettings, 'eventsOfFile' | 'memoryBytes'>,
) => {
  const files = createFiles(String(account));
  const owners = createOwners(account);
  const work = <Value>(use: (connection: DuckDBConnection) => Promise<Value>) => withConnection(instance, use);

  const manifest = await files.open();
  const parquetFiles = createParquetFiles(files, work, memoryBytes);
  const erasures = createErasures(account, manifest?.firstSequence ?? 0, manifest?.cutUntil ?? 0);
  const visitors = createVisitors(account);
  const columns = createColumns([...(manifest?.attributes ?? [])]);
  let events: readonly EventFile[] = manifest?.events ?? [];
  let writtenOwners: { readonly owners: StoredFile; readonly merged: StoredFile; readonly position: string } | null =
    manifest;
  let through = manifest?.through ?? 0;
  let position: string | null = manifest?.position ?? null;
  for (const { name } of manifest ? [...events, manifest.owners, manifest.merged] : []) skipNumberOf(name);
  let isFirstCall = true;
  /** Questions in progress. The files and tables that they read must not be deleted. */
  const readers = new Set<Promise<unknown>>();

  interface Tail {
    readonly table: SQL;
    readonly columns: string[];
    events: number;
    bytes: number;
  }
  const createTail = async (): Promise<Tail> => {
    const table = name(`tail_${account}_${nextNumber()}`);
    const columnNames = Object.keys(fixedColumns);
    await work((connection) => run(connection, sql`CREATE TABLE ${table} (${list(columnNames.map(defineColumn))})`));
    return { table, columns: columnNames, events: 0, bytes: 0 };
  };

  await work((connection) =>
    owners.load(
      connection,
      manifest && { owners: files.pathOf(manifest.owners.name), merged: files.pathOf(manifest.merged.name) },
    ),
  );
  let tail = await createTail();

  /** All events, including those to be removed. */
  const allRows = (names: readonly string[]): SQL => {
    const fromTail = selectRows(tail.table, new Set(tail.columns), names, null);
    return events.length === 0 ? fromTail : sql`${parquetFiles.select(events, names, null)} UNION ALL ${fromTail}`;
  };
  await work((connection) =>
    visitors.load(
      connection,
      events.length === 0 ? null : parquetFiles.select(events, visitorColumns, null),
      manifest?.broken ?? [],
    ),
  );

  /** Marks visitors with erased events, because the erasure changes their sessions. */
  const breakVisitors = async (connection: DuckDBConnection, fresh: readonly FeedErasure[]): Promise<void> => {
    const users = fresh.flatMap((erasure) => ('user' in erasure ? [erasure.user] : []));
    const contacts = fresh.flatMap((erasure) => ('contact' in erasure ? [erasure.contact] : []));
    if (contacts.length > 0) {
      const rows = await run(
        connection,
        sql`SELECT DISTINCT "user" FROM ${allRows(['user', 'contact'])}
          WHERE "user" > 0 AND contact IN (SELECT unnest(${integers(contacts)}))`,
      );
      users.push(...rows.map((row) => Number(row.user)));
    }
    if (users.length > 0) await visitors.breakUp(connection, users);
  };

  const readersDone = () => Promise.allSettled([...readers]);

  /** By file name, the generation of erasures at which the file contained no erased events. */
  const cleanGenerations = new Map(events.map(({ name }) => [name, erasures.generation]));
  const isClean = ({ name, first }: EventFile): boolean =>
    cleanGenerations.get(name) === erasures.generation && first >= erasures.firstSequence;
  const isPurged = (): boolean => events.every(isClean);
  const purgeTail = (): Promise<unknown> => {
    const { table } = tail;
    const erased = sql`SELECT e.sequence FROM ${table} e WHERE ${erasures.condition ?? sql`false`}`;
    return work((connection) => run(connection, sql`DELETE FROM ${table} WHERE sequence IN ${erased}`));
  };

  const writeManifest = async (): Promise<void> => {
    if (writtenOwners === null) throw new Error('the owners were not written');
    const { owners: ownersFile, merged, position: savedPosition } = writtenOwners;
    await files.writeManifest({
      version: 4,
      attributes: columns.attributes,
      events,
      // Not `through`, which may be another account's event: after a backup is restored, this account may reuse its
      // sequence.
      through: events.at(-1)?.last ?? 0,
      owners: ownersFile,
      merged,
      position: savedPosition,
      firstSequence: erasures.firstSequence,
      cutUntil: erasures.cutUntil,
      broken: visitors.broken,
    });
  };

  /** Writes the owners. Returns the names of the replaced files. */
  const writeOwners = async (): Promise<string[]> => {
    if (position === null || writtenOwners?.position === position) return [];
    const replaced = writtenOwners ? [writtenOwners.owners.name, writtenOwners.merged.name] : [];
    writtenOwners = {
      owners: await parquetFiles.write('owners', owners.rows.owners, 4),
      merged: await parquetFiles.write('merged', owners.rows.merged, 2),
      position,
    };
    return replaced;
  };
  const writeEvents = async (query: SQL, names: readonly string[]): Promise<EventFile | null> => {
    const { generation } = erasures;
    const file = await parquetFiles.writeEvents(query, names);
    if (file) cleanGenerations.set(file.name, generation);
    return file;
  };

  /**
   * Writes the tail to a file, and merges the last files into it while they are small, which limits the number of files
   * and of rewrites.
   */
  const flush = async (): Promise<void> => {
    if (tail.events === 0 || position === null) return;
    let first = events.length;
    let count = tail.events;
    for (let file = events[first - 1]; file && file.events < 2 * count && file.events + count <= eventsOfFile; ) {
      first -= 1;
      count += file.events;
      file = events[first - 1];
    }
    const merged = events.slice(first);
    const names = [...new Set([...merged.flatMap((file) => file.columns), ...tail.columns])];
    const hidden = erasures.condition;
    const fromTail = selectRows(tail.table, new Set(tail.columns), names, hidden);
    const query =
      merged.length === 0 ? fromTail : sql`${parquetFiles.select(merged, names, hidden)} UNION ALL ${fromTail}`;
    const file = await writeEvents(query, names);
    const replaced = merged.map(({ name }) => name);
    // Otherwise the position stays before the erasures, so that the feed repeats them after a crash.
    if (isPurged()) replaced.push(...(await writeOwners()));
    const previousTail = tail;
    tail = await createTail();
    events = [...events.slice(0, first), ...(file ? [file] : [])];
    await writeManifest();
    await readersDone();
    await files.remove(replaced);
    await work((connection) => run(connection, sql`DROP TABLE ${previousTail.table}`));
  };

  return {
    async held(): Promise<AccountState> {
      const file = events.at(-1);
      const last = isFirstCall && file ? await parquetFiles.readLast(file) : null;
      isFirstCall = false;
      return { through, position, last };
    },
    areFilesUntouched: files.areUntouched,
    areFilesWhole: files.areWhole,
    async append(fed: EventFeedPage): Promise<void> {
      tail.bytes += await work(async (connection) => {
        if (fed.count === 0) return 0;
        await visitors.loadVisits(connection, allRows(visitorColumns));
        const sessions = await visitors.number(connection, fed, erasures.isContactErased);
        return appendEvents(connection, tail.table, tail.columns, columns, fed, sessions);
      });
      tail.events += fed.count;
      await work((connection) => erasures.beginAt(connection, fed.firstSequence, allRows(['sequence', 'eventTime'])));
      through = fed.through;
      if (tail.events >= eventsOfFile || tail.bytes >= maxMemoryShare * memoryBytes) await flush();
    },
    async applyOwners(fed: OwnerFeedPage): Promise<void> {
      await work(async (connection) => {
        await owners.apply(connection, fed);
        await breakVisitors(connection, await erasures.note(connection, fed.erased));
        position = fed.position;
        if (fed.more) return;
        await erasures.endRound(connection, async () => {
          if (isPurged()) await purgeTail();
          return isPurged();
        });
      });
    },
    /** Whether a file may contain erased events. */
    isPurgeDue: () => !isPurged(),
    /** Removes erased events from one file or, once all files are clean, from memory. */
    async purgeStep(): Promise<'removed' | 'examined' | 'done'> {
      const hidden = erasures.condition;
      const file = events.find((each) => !isClean(each));
      if (hidden === null || file === undefined) {
        if (hidden !== null) await purgeTail();
        return 'done';
      }
      const [row] = await work((connection) =>
        run(connection, sql`SELECT count(*) AS erased FROM ${parquetFiles.read([file])} e WHERE ${hidden}`),
      );
      if (Number(row?.erased) === 0) {
        cleanGenerations.set(file.name, erasures.generation);
        return 'examined';
      }
      const rest = await writeEvents(parquetFiles.select([file], file.columns, hidden), file.columns);
      events = events.flatMap((each) => (each !== file ? each : (rest ?? [])));
      await writeManifest();
      await readersDone();
      await files.remove([file.name]);
      return 'removed';
    },
    /** Returns a snapshot for a question. Call it within `reading`. */
    source(): Source {
      const files = events;
      const { table, columns: tailNames } = tail;
      const tailColumns = new Set(tailNames);
      const hidden = erasures.condition;
      // Copied, because events appended later change the bounds.
      const bounds = { ...visitors.bounds };
      const isLater = sql`e.sequence > ${through}`;
      const tailRows = (names: readonly string[]) =>
        selectRows(table, tailColumns, names, hidden === null ? isLater : or([hidden, isLater]));
      return {
        columns,
        person: owners.personOf(bounds.contact > 0),
        isOf() {
          throw new Error('preparePeople was not called for the conditions of the question');
        },
        through,
        select(names) {
          const fromTail = tailRows(names);
          return files.length === 0
            ? fromTail
            : sql`${parquetFiles.select(files, names, hidden)} UNION ALL ${fromTail}`;
        },
        parts: (names) => [...files.map((file) => parquetFiles.select([file], names, hidden)), tailRows(names)],
        irregular: { table: visitors.table, visitors: visitors.irregular },
        bounds,
        cutUntil: erasures.cutUntil,
        memoryBytes,
        greatestContact: async (connection) => Math.max(bounds.contact, await owners.greatest(connection)),
      };
    },
    /** Keeps the files and tables of `source` from being deleted until `read` settles. */
    reading<Value>(read: () => Promise<Value>): Promise<Value> {
      const result = read();
      const done = result.finally(() => readers.delete(done));
      readers.add(done);
      done.catch(() => {});
      return result;
    },
    readersDone,
    /** Writes the tail, unless it is small. */
    async save(): Promise<void> {
      if (tail.events >= minFileShare * eventsOfFile) await flush();
    },
    /** Frees the memory and keeps the files. */
    async close(): Promise<void> {
      await readersDone();
      await work(async (connection) => {
        await run(connection, sql`DROP TABLE IF EXISTS ${tail.table}`);
        await owners.drop(connection);
        await erasures.drop(connection);
        await visitors.drop(connection);
      });
    },
    deleteFiles: files.discard,
  };
};
export type Account = Awaited<ReturnType<typeof openAccount>>;
