/**
 * Databases that take long to build, remembered in the system's temporary folder for as long as neither the sources of the
 * store nor those of what builds them change.
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import {
  copyFile,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { whole } from './table.ts';

const folder = join(tmpdir(), 'firsthand-bench');
const unusedMilliseconds = 2 * 3_600_000;
const builders = ['visits.ts', 'account.ts', 'history.ts', 'contacts-stored.ts'];

const hashOfSources = async (): Promise<string> => {
  const store = fileURLToPath(new URL('../src/store/', import.meta.url));
  const names = (await readdir(store, { recursive: true })).filter((name) => /(?<!\.test)\.(ts|js|sql)$/.test(name));
  const paths = names.map((name) => join(store, name));
  paths.push(...builders.map((name) => fileURLToPath(new URL(name, import.meta.url))));
  const hash = createHash('sha256');
  for (const path of paths.sort()) hash.update(await readFile(path));
  return hash.digest('hex').slice(0, 12);
};

/** When something in it was last changed, or it was last used; now, while another process is taking it away. */
const lastUse = async (path: string): Promise<number> => {
  try {
    const paths = [path, ...(await readdir(path)).map((name) => join(path, name))];
    return Math.max(...(await Promise.all(paths.map((each) => stat(each)))).map(({ mtimeMs }) => mtimeMs));
  } catch {
    return Date.now();
  }
};

/** What nobody has used for two hours goes, so that the disk doesn't fill up. */
const forgetUnused = async (): Promise<void> => {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (Date.now() - (await lastUse(path)) > unusedMilliseconds) await rm(path, { recursive: true, force: true });
  }
};

export interface Remembered<About> {
  /** Of the database: for reading only, and by one process at a time. Whoever writes takes a copy. */
  readonly path: string;
  readonly folder: string;
  readonly about: About;
}

/** The database of this name, built now unless it is remembered. `build` answers what is to be known about it. */
export const remember = async <About>(
  name: string,
  build: (path: string) => Promise<About>,
): Promise<Remembered<About>> => {
  await mkdir(folder, { recursive: true });
  await forgetUnused();
  const own = join(folder, `${name}-${await hashOfSources()}`);
  const aboutFile = join(own, 'about.json');
  const text = await readFile(aboutFile, 'utf8').catch(() => undefined);
  if (text !== undefined) {
    await utimes(own, new Date(), new Date());
    return { path: join(own, 'firsthand.db'), folder: own, about: JSON.parse(text) as About };
  }
  const draft = await mkdtemp(join(folder, 'building-'));
  const began = Date.now();
  try {
    const about = await build(join(draft, 'firsthand.db'));
    await writeFile(join(draft, 'about.json'), JSON.stringify(about));
    console.log(`(built ${name} in ${whole((Date.now() - began) / 1000)} s: ${own})\n`);
    // Unless another process was first; then its database is as good as ours.
    await rename(draft, own).catch(() => rm(draft, { recursive: true }));
    return { path: join(own, 'firsthand.db'), folder: own, about };
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
};

const isOfDatabase = (name: string): boolean => name.startsWith('firsthand.db');

/** Bytes of all its files. */
export const bytesOf = async (inFolder: string): Promise<number> => {
  const names = (await readdir(inFolder)).filter(isOfDatabase);
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(inFolder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
};

/** So that what is measured doesn't wait for the disk to take a copy. */
const sync = async (path: string): Promise<void> => {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
};

/** Runs something on a copy that may be written to, and is deleted afterwards. */
export const onCopy = async <Value>(
  { folder: from }: { readonly folder: string },
  use: (path: string, folder: string) => Promise<Value>,
): Promise<Value> => {
  const copy = await mkdtemp(join(folder, 'copy-'));
  try {
    for (const name of (await readdir(from)).filter(isOfDatabase)) {
      await copyFile(join(from, name), join(copy, name), constants.COPYFILE_FICLONE);
      await sync(join(copy, name));
    }
    return await use(join(copy, 'firsthand.db'), copy);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
};

/** Runs something in a folder of its own, which is deleted afterwards. */
export const inFolder = async <Value>(use: (folder: string) => Promise<Value>): Promise<Value> => {
  await mkdir(folder, { recursive: true });
  const own = await mkdtemp(join(folder, 'copy-'));
  try {
    return await use(own);
  } finally {
    await rm(own, { recursive: true, force: true });
  }
};
