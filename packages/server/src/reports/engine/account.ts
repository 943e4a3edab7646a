/**
 * What the process holds of an account: events in files, newer ones in the table `tail_<account>_<number>`, owners, and what is erased.
 * The functions that change it must not run at the same time; questions may be asked meanwhile.
 */
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { FedErasure, FedEvents, FedOwners } from '../../store/report-feed.ts';
import type { EngineSettings, Held } from '../messages.ts';
import type { Condition } from '../questions.ts';
import { connected } from './database.ts';
import { appendEvents } from './files/appending.ts';
import { type Columns, createColumns, definition, fixedColumns } from './files/columns.ts';
import { createErasures } from './files/erasures.ts';
import { createFiles, type EventFile, type StoredFile } from './files/files.ts';
import { createParquetFiles, nextNumber, selectRows, skipNumberOf } from './files/parquet-files.ts';
import { createVisitors, visitorColumns } from './files/visitors.ts';
import { createOwners } from './owners.ts';
import { integers, list, name, or, type SQL, sql } from './sql.ts';
import { run } from './statements.ts';

/** The tail is written to a file when it takes more than this part of the memory. */
const maxMemoryShare = 0.25;
/** A tail that is a smaller part of a full file is read from the store again rather than written when the process ends. */
const worthAFile = 0.01;

/** A condition that speaks of the event's person. */
export type OfPeople = Extract<
  Condition,
  { readonly contacts: unknown } | { readonly did: unknown } | { readonly personFirst: unknown }
>;

/** What a question reads, as it was at one time. */
export interface Source {
  readonly columns: Columns;
  /** How to find the person of an event `e`; `owners` is the table of the users that contacts own, `user`. */
  readonly person: {
    readonly joins: SQL;
    readonly person: SQL;
    /** Tables. */
    readonly owners: SQL;
    readonly merged: SQL;
  };
  /** Whether the person of an event `e` is among those of a condition (condition-people.ts). */
  isOf(condition: OfPeople): SQL;
  /** Rows of events with these columns. */
  select(names: readonly string[]): SQL;
  /** The same in parts, each by sequence, the first ones first. */
  parts(names: readonly string[]): SQL[];
  /** A table of the visitors whose sessions have no numbers, and how many there are (visits.ts). */
  readonly irregular: { readonly table: SQL; readonly visitors: number | 'all' };
  /** The greatest numbers of users, contacts that events were logged with, and sessions. */
  readonly bounds: { readonly user: number; readonly contact: number; readonly session: number };
  /** No event that is gone for its age happened after this time. */
  readonly cutUntil: number;
  readonly memoryBytes: number;
  /** The greatest number of a contact that an event was logged with, or that owns something. */
  greatestContact(connection: DuckDBConnection): Promise<number>;
  readonly through: number;
}

/** Opens the files of an account, and the tables of what is not in files yet. Damaged files are deleted: the account is empty then. */
export const openAccount = async (
  instance: DuckDBInstance,
  account: number,
  { eventsOfFile, memoryBytes }: Pick<EngineSettings, 'eventsOfFile' | 'memoryBytes'>,
) => {
  const files = createFiles(String(account));
  const owners = createOwners(account);
  const work = <Value>(use: (connection: DuckDBConnection) => Promise<Value>) => connected(instance, use);

  const manifest = await files.open();
  const parquetFiles = createParquetFiles(files, work, memoryBytes);
  const erasures = createErasures(account, manifest?.firstSequence ?? 0, manifest?.cutUntil ?? 0);
  const visitors = createVisitors(account);
  const columns = createColumns([...(manifest?.attributes ?? [])]);
  let events: readonly EventFile[] = manifest?.events ?? [];
  let saved: { readonly owners: StoredFile; readonly merged: StoredFile; readonly position: string } | null = manifest;
  let through = manifest?.through ?? 0;
  let position: string | null = manifest?.position ?? null;
  for (const { name } of manifest ? [...events, manifest.owners, manifest.merged] : []) skipNumberOf(name);
  let isFresh = true;
  /** Questions that are being answered: what they read must not be deleted. */
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
    await work((connection) => run(connection, sql`CREATE TABLE ${table} (${list(columnNames.map(definition))})`));
    return { table, columns: columnNames, events: 0, bytes: 0 };
  };

  await work((connection) =>
    owners.load(
      connection,
      manifest && { owners: files.pathOf(manifest.owners.name), merged: files.pathOf(manifest.merged.name) },
    ),
  );
  let tail = await createTail();

  /** All events that there are, those that are to be removed too. */
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

  /** A visitor of whose history a part is erased has other sessions than before. */
  const breakVisitors = async (connection: DuckDBConnection, fresh: readonly FedErasure[]): Promise<void> => {
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

  /** The generation of erasures at which a file was known to hold nothing that is erased, by its name. */
  const examined = new Map(events.map(({ name }) => [name, erasures.generation]));
  const isClean = ({ name, first }: EventFile): boolean =>
    examined.get(name) === erasures.generation && first >= erasures.firstSequence;
  const isPurged = (): boolean => events.every(isClean);
  const purgeTail = (): Promise<unknown> => {
    const { table } = tail;
    const erased = sql`SELECT e.sequence FROM ${table} e WHERE ${erasures.condition ?? sql`false`}`;
    return work((connection) => run(connection, sql`DELETE FROM ${table} WHERE sequence IN ${erased}`));
  };

  const writeManifest = async (): Promise<void> => {
    if (saved === null) throw new Error('the owners were not written');
    const { owners: ownersFile, merged, position: savedPosition } = saved;
    await files.writeManifest({
      version: 4,
      attributes: columns.attributes,
      events,
      // Not that of other accounts' events: a restored backup may end before it, and give its sequence to an event of this account.
      through: events.at(-1)?.last ?? 0,
      owners: ownersFile,
      merged,
      position: savedPosition,
      firstSequence: erasures.firstSequence,
      cutUntil: erasures.cutUntil,
      broken: visitors.broken,
    });
  };

  /** Writes the owners as they are. Returns the names of the files that they replace. */
  const writeOwners = async (): Promise<string[]> => {
    if (position === null || saved?.position === position) return [];
    const replaced = saved ? [saved.owners.name, saved.merged.name] : [];
    saved = {
      owners: await parquetFiles.write('owners', owners.rows.owners, 4),
      merged: await parquetFiles.write('merged', owners.rows.merged, 2),
      position,
    };
    return replaced;
  };
  const writeEvents = async (query: SQL, names: readonly string[]): Promise<EventFile | null> => {
    const { generation } = erasures;
    const file = await parquetFiles.writeEvents(query, names);
    if (file) examined.set(file.name, generation);
    return file;
  };

  /** Writes the tail to a file, together with the last ones while these are small: so there are few, and each is written few times. */
  const flush = async (): Promise<void> => {
    if (tail.events === 0 || position === null) return;
    let first = events.length;
    let count = tail.events;
    for (let file = events[first - 1]; file && file.events < 2 * count && file.events + count <= eventsOfFile; ) {
      first -= 1;
      count += file.events;
      file = events[first - 1];
    }
    const joined = events.slice(first);
    const names = [...new Set([...joined.flatMap((file) => file.columns), ...tail.columns])];
    const hidden = erasures.condition;
    const fromTail = selectRows(tail.table, new Set(tail.columns), names, hidden);
    const query =
      joined.length === 0 ? fromTail : sql`${parquetFiles.select(joined, names, hidden)} UNION ALL ${fromTail}`;
    const file = await writeEvents(query, names);
    const replaced = joined.map(({ name }) => name);
    // Files that may hold erased events keep the position from before: after a crash the feed names the erasures again.
    if (isPurged()) replaced.push(...(await writeOwners()));
    const written = tail;
    tail = await createTail();
    events = [...events.slice(0, first), ...(file ? [file] : [])];
    await writeManifest();
    await readersDone();
    await files.remove(replaced);
    await work((connection) => run(connection, sql`DROP TABLE ${written.table}`));
  };

  return {
    async held(): Promise<Held> {
      const file = events.at(-1);
      const last = isFresh && file ? await parquetFiles.readLast(file) : null;
      isFresh = false;
      return { through, position, last };
    },
    areFilesUntouched: files.areUntouched,
    areFilesWhole: files.areWhole,
    async append(fed: FedEvents): Promise<void> {
      tail.bytes += await work(async (connection) => {
        if (fed.count === 0) return 0;
        await visitors.learn(connection, allRows(visitorColumns));
        const sessions = await visitors.number(connection, fed, erasures.isContactErased);
        return appendEvents(connection, tail.table, tail.columns, columns, fed, sessions);
      });
      tail.events += fed.count;
      await work((connection) => erasures.beginAt(connection, fed.firstSequence, allRows(['sequence', 'eventTime'])));
      through = fed.through;
      if (tail.events >= eventsOfFile || tail.bytes >= maxMemoryShare * memoryBytes) await flush();
    },
    async applyOwners(fed: FedOwners): Promise<void> {
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
    /** Whether a file may hold what is erased. */
    isPurgeDue: () => !isPurged(),
    /** Removes what is erased from one file; then, when all are done, from memory. */
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
        examined.set(file.name, erasures.generation);
        return 'examined';
      }
      const rest = await writeEvents(parquetFiles.select([file], file.columns, hidden), file.columns);
      events = events.flatMap((each) => (each !== file ? each : (rest ?? [])));
      await writeManifest();
      await readersDone();
      await files.remove([file.name]);
      return 'removed';
    },
    /** What the files hold now, for a question; it must be within `reading`. */
    source(): Source {
      const those = events;
      const { table, columns: names } = tail;
      const tailColumns = new Set(names);
      const hidden = erasures.condition;
      // What is appended after this has other bounds.
      const bounds = { ...visitors.bounds };
      const isLater = sql`e.sequence > ${through}`;
      const tailRows = (wanted: readonly string[]) =>
        selectRows(table, tailColumns, wanted, hidden === null ? isLater : or([hidden, isLater]));
      return {
        columns,
        person: owners.personOf(bounds.contact > 0),
        isOf() {
          throw new Error('the people of the conditions are not prepared');
        },
        through,
        select(wanted) {
          const fromTail = tailRows(wanted);
          return those.length === 0
            ? fromTail
            : sql`${parquetFiles.select(those, wanted, hidden)} UNION ALL ${fromTail}`;
        },
        parts: (wanted) => [...those.map((file) => parquetFiles.select([file], wanted, hidden)), tailRows(wanted)],
        irregular: { table: visitors.table, visitors: visitors.irregular },
        bounds,
        cutUntil: erasures.cutUntil,
        memoryBytes,
        greatestContact: async (connection) => Math.max(bounds.contact, await owners.greatest(connection)),
      };
    },
    /** Keeps the files and tables of `source` until `read` is done. */
    reading<Value>(read: () => Promise<Value>): Promise<Value> {
      const result = read();
      const done = result.finally(() => readers.delete(done));
      readers.add(done);
      done.catch(() => {});
      return result;
    },
    readersDone,
    /** Writes what is worth a file. */
    async save(): Promise<void> {
      if (tail.events >= worthAFile * eventsOfFile) await flush();
    },
    /** Frees the memory. The files stay. */
    async close(): Promise<void> {
      await readersDone();
      await work(async (connection) => {
        await run(connection, sql`DROP TABLE IF EXISTS ${tail.table}`);
        await owners.drop(connection);
        await erasures.drop(connection);
        await visitors.drop(connection);
      });
    },
    /** Deletes the files. */
    deleteFiles: files.discard,
  };
};
export type Account = Awaited<ReturnType<typeof openAccount>>;
