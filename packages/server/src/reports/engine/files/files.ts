/**
 * An account's files, in a separate folder: Parquet files, and a manifest with their names and checksums. A file gets
 * its final name once it is complete and synced, and is deleted only after the manifest no longer lists it, so that a
 * crash at any time is safe.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';

export interface StoredFile {
  readonly name: string;
  /** The hash of the file's content, in hex. */
  readonly sha256: string;
}

export interface EventFile extends StoredFile {
  readonly events: number;
  /** The sequence numbers of its first and last events. */
  readonly first: number;
  readonly last: number;
  readonly columns: readonly string[];
}

export interface Manifest {
  readonly version: 4;
  /** The attrIDs with columns, by column number. */
  readonly attributes: readonly string[];
  /** Sorted by sequence number. */
  readonly events: readonly EventFile[];
  /** The sequence number of the last event in the files, which contain all events up to it. */
  readonly through: number;
  readonly owners: StoredFile;
  readonly merged: StoredFile;
  /**
   * The feed position up to which `owners` and `merged` are current. The files contain no event that was erased before
   * it.
   */
  readonly position: string;
  readonly firstSequence: number;
  /** The latest time of the events before `firstSequence`. */
  readonly cutUntil: number;
  /** Visitors with erased events (visitors.ts). */
  readonly broken: readonly number[];
}

const manifestName = 'manifest.json';
const draftSuffix = '.new';

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

/** Does nothing on Windows, which can't sync a folder and does not need to. */
const syncFolder = async (path: string): Promise<void> => {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
};

/** Returns a string that changes whenever the file is written or replaced. */
const readFingerprint = async (path: string): Promise<string> => {
  const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
  return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
};

const hashText = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Formats a manifest as two lines: the hash of its JSON, and the JSON. */
const formatManifest = (manifest: Manifest): string => {
  const content = JSON.stringify(manifest);
  return `${hashText(content)}\n${content}`;
};

/** Throws if the manifest is damaged or its version differs. */
const parseManifest = (text: string): Manifest => {
  const [sha256, content = ''] = text.split('\n');
  if (hashText(content) !== sha256) throw new Error('damaged');
  const manifest: Manifest = JSON.parse(content);
  if (manifest.version !== 4) throw new Error('unsupported version');
  return manifest;
};

/** `folder` is relative to the working directory. It must not contain client input, because it becomes part of SQL. */
export const createFiles = (folder: string) => {
  /** The files in use, as they were when last written or checked. */
  const current = new Map<string, { readonly fingerprint: string; readonly sha256: string }>();
  const pathOf = (name: string): string => `${folder}/${name}`;

  const recordFile = async (name: string, sha256: string): Promise<void> => {
    current.set(name, { fingerprint: await readFingerprint(pathOf(name)), sha256 });
  };
  /** Throws if the file is missing or has different content. */
  const check = async (name: string, sha256: string): Promise<void> => {
    // Reads the fingerprint before the content, so that the next check detects a concurrent write.
    const fingerprint = await readFingerprint(pathOf(name));
    if ((await digest(pathOf(name))) !== sha256) throw new Error(`${name} is damaged`);
    current.set(name, { fingerprint, sha256 });
  };
  const isUntouched = async (name: string): Promise<boolean> =>
    (await readFingerprint(pathOf(name)).catch(() => '')) === current.get(name)?.fingerprint;
  const removeAll = async (keep: ReadonlySet<string>): Promise<void> => {
    const names = await readdir(folder).catch(() => []);
    await Promise.all(names.filter((name) => !keep.has(name)).map((name) => rm(pathOf(name), { recursive: true })));
    for (const name of current.keys()) if (!keep.has(name)) current.delete(name);
    await syncFolder(folder).catch(() => {});
  };

  return {
    pathOf,
    /** Calls `write` with a path relative to the working directory. Resolves when the file is synced. */
    async create(name: string, write: (path: string) => Promise<unknown>): Promise<StoredFile> {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const path = pathOf(name);
      await write(path + draftSuffix);
      await syncFile(path + draftSuffix);
      const sha256 = await digest(path + draftSuffix);
      await rename(path + draftSuffix, path);
      await recordFile(name, sha256);
      return { name, sha256 };
    },
    /** Replaces the manifest. Resolves when the manifest is synced. */
    async writeManifest(manifest: Manifest): Promise<void> {
      const path = pathOf(manifestName);
      const file = await open(path + draftSuffix, 'w', 0o600);
      try {
        await file.writeFile(formatManifest(manifest));
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(path + draftSuffix, path);
      await syncFolder(folder);
      await recordFile(manifestName, await digest(path));
    },
    async remove(names: readonly string[]): Promise<void> {
      for (const name of names) {
        current.delete(name);
        await rm(pathOf(name), { force: true });
      }
      if (names.length > 0) await syncFolder(folder);
    },
    /** Returns the manifest if it and its files are intact, and deletes other files. Otherwise deletes all files. */
    async open(): Promise<Manifest | null> {
      try {
        const manifest = parseManifest(await readFile(pathOf(manifestName), 'utf8'));
        const files = [...manifest.events, manifest.owners, manifest.merged];
        for (const { name, sha256: expected } of files) await check(name, expected);
        await recordFile(manifestName, await digest(pathOf(manifestName)));
        await removeAll(new Set(current.keys()));
        return manifest;
      } catch {
        await removeAll(new Set());
        return null;
      }
    },
    /**
     * Whether the files are as this process opened or wrote them: none has been written, replaced or deleted since.
     */
    areUntouched: async (): Promise<boolean> =>
      (await Promise.all([...current.keys()].map(isUntouched))).every(Boolean),
    /** Whether the files have the same content, even if they were touched, for example by a backup with hard links. */
    async areWhole(): Promise<boolean> {
      try {
        for (const [name, { sha256 }] of current) if (!(await isUntouched(name))) await check(name, sha256);
        return true;
      } catch {
        return false;
      }
    },
    async discard(): Promise<void> {
      current.clear();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
