/** `position.json`: how much of an account's data the folder of an incremental export has. */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { draftSuffix, sync } from './parquet-writer.ts';

export const positionName = 'position.json';

export interface Position {
  readonly version: 1;
  readonly accountUUID: string;
  /** The time of the first events in the folder (ISO 8601); null: all events. */
  readonly since: string | null;
  /** The folder has the events up to this sequence number. */
  readonly through: number;
  /** The position in the owner feed; null before the first export is complete. */
  readonly owners: string | null;
  /** The number of event files, to detect missing files. */
  readonly files: number;
  /** A hash of the merged attributes and event IDs, which the event files depend on. */
  readonly merges: string;
  /** When the last export began (ISO 8601). */
  readonly exportedTime: string;
}

/** Returns undefined if there is none. */
export const readPosition = async (folder: string): Promise<Position | undefined> => {
  const path = join(folder, positionName);
  const content = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (content === undefined) return undefined;
  try {
    const position: Position = JSON.parse(content);
    if (position.version === 1) return position;
  } catch {
    // The file is not JSON.
  }
  throw new Error(`${path} is damaged or from a later release: export to a new folder`);
};

/** Replaces the position. Resolves when it is synced. */
export const writePosition = async (folder: string, position: Position): Promise<void> => {
  const path = join(folder, positionName);
  await writeFile(path + draftSuffix, `${JSON.stringify(position, null, 2)}\n`, { mode: 0o600 });
  await sync(path + draftSuffix);
  await rename(path + draftSuffix, path);
  await sync(folder);
};
