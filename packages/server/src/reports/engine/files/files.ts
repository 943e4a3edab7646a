/**
 * The files of an account, in a folder of its own: Parquet, and a manifest that names them with their checksums. A file gets its name when
 * it is whole and synced, and is deleted after the manifest no longer names it; so a process may end at any time.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';

export interface StoredFile {
  readonly name: string;
  /** Of its content, in hex. */
  readonly sha256: string;
}

export interface EventFile extends StoredFile {
  readonly events: number;
  /** The sequences of its first and last event. */
  readonly first: number;
  readonly last: number;
  readonly columns: readonly string[];
}

interface Manifest {
  readonly version: 4;
  /** The attrIDs with columns, by their numbers. */
  readonly attributes: readonly string[];
  /** In the order of their sequences. */
  readonly events: readonly EventFile[];
  /** The sequence of the last event in the files: they hold all up to it. */
  readonly through: number;
  readonly owners: StoredFile;
  readonly merged: StoredFile;
  /** The feed's position of `owners` and `merged`. No event that was erased up to it is in the files. */
  readonly position: string;
  readonly firstSequence: number;
  /** No event before `firstSequence` happened after this time. */
  readonly cutUntil: number;
  /** Visitors of whose history a part was erased (visitors.ts). */
  readonly broken: readonly number[];
}

const manifestName = 'manifest.json';
const unfinished = '.new';

const digest = async (path: string): Promise<string> => {
  const hash = createHash('sha256');
  for await (const part of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(part);
  return hash.digest('hex');
};

const syncFile = async (path: string): Promise<void> => {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
};

/** Windows can't sync a folder, and needn't. */
const syncFolder = async (path: string): Promise<void> => {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
};

/** Changes with every write to the file, or when another takes its place. */
const markOf = async (path: string): Promise<string> => {
  const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
  return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
};

/** `folder` is relative to the current folder: our own words only, so that it may be part of SQL. */
export const createFiles = (folder: string) => {
  /** The files that are in use: what they were when they were written or checked. */
  const known = new Map<string, { readonly mark: string; readonly sha256: string }>();
  const pathOf = (name: string): string => `${folder}/${name}`;

  const remember = async (name: string, sha256: string): Promise<void> => {
    known.set(name, { mark: await markOf(pathOf(name)), sha256 });
  };
  /** Throws if the file is missing or holds anything else. */
  const check = async (name: string, sha256: string): Promise<void> => {
    // The mark first: a write after it shows the next time.
    const mark = await markOf(pathOf(name));
    if ((await digest(pathOf(name))) !== sha256) throw new Error(`${name} is damaged`);
    known.set(name, { mark, sha256 });
  };
  const isUntouched = async (name: string): Promise<boolean> =>
    (await markOf(pathOf(name)).catch(() => '')) === known.get(name)?.mark;
  const removeAll = async (keep: ReadonlySet<string>): Promise<void> => {
    const names = await readdir(folder).catch(() => []);
    await Promise.all(names.filter((name) => !keep.has(name)).map((name) => rm(pathOf(name), { recursive: true })));
    for (const name of known.keys()) if (!keep.has(name)) known.delete(name);
    await syncFolder(folder).catch(() => {});
  };

  return {
    pathOf,
    /** `write` writes a file at the path that it is given, below the current folder. Resolves when the file is synced. */
    async create(name: string, write: (path: string) => Promise<unknown>): Promise<StoredFile> {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const path = pathOf(name);
      await write(path + unfinished);
      await syncFile(path + unfinished);
      const sha256 = await digest(path + unfinished);
      await rename(path + unfinished, path);
      await remember(name, sha256);
      return { name, sha256 };
    },
    /** Replaces the manifest. Resolves when that is synced. */
    async writeManifest(manifest: Manifest): Promise<void> {
      const content = JSON.stringify(manifest);
      const sha256 = createHash('sha256').update(content).digest('hex');
      const path = pathOf(manifestName);
      const file = await open(path + unfinished, 'w', 0o600);
      try {
        await file.writeFile(`${sha256}\n${content}`);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(path + unfinished, path);
      await syncFolder(folder);
      await remember(manifestName, await digest(path));
    },
    /** Deletes these files. */
    async remove(names: readonly string[]): Promise<void> {
      for (const name of names) {
        known.delete(name);
        await rm(pathOf(name), { force: true });
      }
      if (names.length > 0) await syncFolder(folder);
    },
    /** Returns the manifest if it and all its files are as they were written, and deletes all other files; else deletes all. */
    async open(): Promise<Manifest | null> {
      try {
        const [sha256, content = ''] = (await readFile(pathOf(manifestName), 'utf8')).split('\n');
        if (createHash('sha256').update(content).digest('hex') !== sha256) throw new Error('damaged');
        const manifest: Manifest = JSON.parse(content);
        const files = [...manifest.events, manifest.owners, manifest.merged];
        if (manifest.version !== 4) throw new Error('of another version');
        for (const { name, sha256: expected } of files) await check(name, expected);
        await remember(manifestName, await digest(pathOf(manifestName)));
        await removeAll(new Set(known.keys()));
        return manifest;
      } catch {
        await removeAll(new Set());
        return null;
      }
    },
    /** Whether no file was written, replaced or deleted by others since it was opened or written. */
    areUntouched: async (): Promise<boolean> => (await Promise.all([...known.keys()].map(isUntouched))).every(Boolean),
    /** Whether they hold what they held, though they may have been touched: a backup with hard links does that. */
    async areWhole(): Promise<boolean> {
      try {
        for (const [name, { sha256 }] of known) if (!(await isUntouched(name))) await check(name, sha256);
        return true;
      } catch {
        return false;
      }
    },
    async discard(): Promise<void> {
      known.clear();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
