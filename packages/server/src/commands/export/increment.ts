/**
 * Incremental export: each run brings a folder of Parquet files up to date. It adds new events, removes events that
 * Firsthand deleted, and replaces everything else, including the owners of events. The position is written last, so if
 * a run is killed, the next run repeats its work.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { lockFile } from '../../reports/engine/database.ts';
import type { Store } from '../../store/store.ts';
import { removeDeleted } from './deleted-events.ts';
import { createEventFiles } from './event-files.ts';
import { readEventPages } from './event-parts.ts';
import { draftSuffix, spillName, withParquetWriter } from './parquet-writer.ts';
import { type Position, positionName, readPosition, writePosition } from './position.ts';
import type { Run } from './run.ts';
import { readContacts, readLinks, replaceTables } from './tables.ts';

const lockName = '.lock';
/** The files that remain if a new export is killed early. */
const ownNames = [lockName, spillName, positionName + draftSuffix];

interface IncrementOptions {
  readonly account: number;
  readonly accountUUID: string;
  readonly folder: string;
  /**
   * The time of the first events in the folder (ISO 8601). Undefined: all events in a new folder, and the previous time
   * in an existing folder.
   */
  readonly since?: string | undefined;
  /** The maximum number of events in memory. */
  readonly maxEvents?: number;
}

interface Increment {
  readonly events: number;
  /** The number of events that were deleted from the folder. */
  readonly removed: number;
  /** Why all events were exported again; null if they were not. */
  readonly restarted: string | null;
  readonly through: number;
}

/** A hash of the attribute and event merges. Reads replace merged IDs, so a merge changes events in all files. */
const hashMerges = async (store: Store, account: number): Promise<string> => {
  const hash = createHash('sha256');
  for (const kind of ['attr', 'event'] as const)
    for (const { id, mergedInto } of await store.listCatalogue({ account, kind }))
      if (mergedInto !== null) hash.update(JSON.stringify([kind, id, mergedInto]));
  return hash.digest('hex').slice(0, 16);
};

/** Creates and locks the folder. Returns its position; undefined if it is new. */
const openFolder = async (
  folder: string,
  lock: (path: string, message: string) => Promise<void>,
): Promise<Position | undefined> => {
  // DuckDB would treat the path as a pattern, and miss files.
  if (/[*?[]/.test(folder)) throw new Error(`the path ${folder} must not contain the characters *, ? or [`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const names = await readdir(folder);
  if (!names.includes(positionName) && names.some((name) => !ownNames.includes(name)))
    throw new Error(`${folder} has files, but no ${positionName} of an earlier export: choose a new folder`);
  await lock(join(folder, lockName), `another export writes to ${folder}: wait until it ends`);
  return readPosition(folder);
};

/** Removes the unfinished files from a run that was killed. */
const removeDrafts = async (folder: string): Promise<void> => {
  const drafts = (await readdir(folder)).filter((name) => name === spillName || name.endsWith(draftSuffix));
  for (const name of drafts) await rm(join(folder, name), { recursive: true, force: true });
};

/** Throws if an existing folder has another account's export, or starts at another time. */
const checkContinues = (
  folder: string,
  existing: Position | undefined,
  { accountUUID, since }: { readonly accountUUID: string; readonly since: string | undefined },
): void => {
  if (existing === undefined) return;
  if (existing.accountUUID !== accountUUID)
    throw new Error(`${folder} has an export of account ${existing.accountUUID}: choose a new folder`);
  if (since !== undefined && since !== existing.since)
    throw new Error(
      `${folder} has the events ${existing.since === null ? 'from the first' : `since ${existing.since}`}: continue it with --since last, or choose a new folder`,
    );
};

/** Whether the store still has the events in the folder. False if an older backup was restored. */
const hasSameEvents = async (
  { store, account, files }: Run,
  position: Position,
  isDeleted: (sequence: number) => boolean,
): Promise<boolean> => {
  const last = await files.last();
  if (!last) return true;
  const page = await store.getEvents({ account, order: 'asc', limit: 1, beyond: last.sequence - 1 });
  if (page.next === null && page.through < position.through) return false;
  const [found] = page.events;
  return found?.sequence === last.sequence ? found.eventUUID === last.eventUUID : isDeleted(last.sequence);
};

/** Returns why the folder can't be continued; null if it can. */
const findObstacle = async (run: Run, position: Position, merges: string): Promise<string | null> => {
  const { store, account } = run;
  if (position.owners === null) return null;
  const names = await readdir(run.folder);
  const hasTables = names.includes('links.parquet') && names.includes('owners.parquet');
  if (!hasTables || (await run.files.count()) < position.files)
    return 'files are missing from the folder: only move or change files in a copy of it';
  if (position.merges !== merges) return 'attributes or events were merged or unmerged in the catalogue';
  const { reset, erased } = await store.feedOwners({ account, since: position.owners });
  if (reset) return 'the database was restored or copied, or too many links have changed since the last export';
  const { firstSequence } = await store.feedEvents({ account, beyond: position.through, limit: 1 });
  const isDeleted = (sequence: number) => erased.length > 0 || sequence < firstSequence;
  return (await hasSameEvents(run, position, isDeleted)) ? null : 'the database was restored from a backup';
};

/** Brings the folder up to date with the store, or creates it. */
export const exportIncrement = (
  store: Store,
  { account, accountUUID, folder, since, maxEvents }: IncrementOptions,
): Promise<Increment> =>
  withParquetWriter(folder, async (writer, connection) => {
    const exportedTime = new Date().toISOString();
    const existing = await openFolder(folder, (path, message) => lockFile(connection, path, message));
    checkContinues(folder, existing, { accountUUID, since });
    const files = createEventFiles(folder, writer);
    const run: Run = { store, account, folder, writer, files };
    const merges = await hashMerges(store, account);
    const empty: Position = {
      ...{ version: 1, accountUUID, since: existing?.since ?? since ?? null, through: 0, owners: null },
      ...{ files: 0, merges, exportedTime },
    };
    await removeDrafts(folder);
    await files.removeAfter(existing?.through ?? 0);
    const restarted = existing ? await findObstacle(run, existing, merges) : null;
    const position = existing && restarted === null ? { ...existing, merges } : empty;
    if (position === empty) {
      await writePosition(folder, position);
      await files.removeAfter(0);
    }

    let { through } = position;
    async function* readEvents() {
      const from = position.since === null ? undefined : Date.parse(position.since);
      for await (const read of readEventPages(store, { account, beyond: position.through, from })) {
        through = read.through;
        yield read;
      }
    }
    const events = await files.append(readEvents(), maxEvents);
    // Read after the events, so that all earlier links and erasures are applied to them.
    const { erased, position: ownersPosition } = await readLinks(run, position.owners);
    await readContacts(run);
    const removed = await removeDeleted(run, erased, through);
    await files.ensureAny();
    await replaceTables(run, position.owners === null);
    await files.sync();
    await writePosition(folder, {
      ...{ ...position, through, owners: ownersPosition, files: await files.count(), exportedTime },
    });
    await files.removeEmptied();
    await removeDrafts(folder);
    return { events, removed, restarted, through };
  });
