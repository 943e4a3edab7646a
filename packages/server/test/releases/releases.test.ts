/**
 * Tests that each release's data file can be opened, and that responses match that release's. `make.ts` adds a release.
 */
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findNewestMigration } from '../../src/store/migrations.ts';
import Database from '../../src/store/sqlite/database/better-sqlite3.ts';
import { firsthand } from '../fixtures/command.ts';
import { serveHere } from '../fixtures/serving.ts';
import { createCall, type Release } from './release.ts';

const here = new URL('.', import.meta.url);
const bytesOf = (name: string) => readFileSync(new URL(name, here));
const extension = '.db.gz';
const versions = readdirSync(here).flatMap((name) =>
  name.endsWith(extension) ? name.slice(0, -extension.length) : [],
);

const newestSchema = findNewestMigration(new URL('../../src/store/sqlite/migrations/', here));
/** The offset of the user version in a SQLite file (File format, 1.3). */
const userVersionOffset = 60;
/** The releases whose data files this server upgrades. The newest release may have this server's schema. */
const olderVersions = versions.filter(
  (version) => gunzipSync(bytesOf(version + extension)).readUInt32BE(userVersionOffset) < newestSchema,
);

/** Unpacks a release's data file and erasure record into a temporary folder. Returns the data file's path. */
const unpack = (version: string): string => {
  const folder = mkdtempSync(join(tmpdir(), 'firsthand-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'firsthand.db');
  writeFileSync(path, gunzipSync(bytesOf(version + extension)));
  if (existsSync(new URL(`${version}.db-erased`, here))) {
    writeFileSync(`${path}-erased`, bytesOf(`${version}.db-erased`));
  }
  return path;
};

const schemaOf = (path: string): number => {
  const db = new Database(path, { readonly: true });
  try {
    return db.pragma('user_version', { simple: true }) as number;
  } finally {
    db.close();
  }
};

describe.each(versions)('a data file from %s', (version) => {
  const { serverToken, answers }: Release = JSON.parse(gunzipSync(bytesOf(`${version}.json.gz`)).toString());

  test('produces the same responses as in that release, apart from later additions', async () => {
    const { url } = await serveHere({ DATABASE_URL: `sqlite:${unpack(version)}` });
    const call = createCall(url, serverToken);
    for (const { question, answer } of answers) {
      expect(await call(question), `${question.path} ${JSON.stringify(question.input)}`).toMatchObject(
        answer as object,
      );
    }
    expect(answers.length).toBeGreaterThan(50);
  });
});

describe.each(olderVersions)('a data file from %s', (version) => {
  test('is backed up and verified once before the server changes it', async () => {
    const path = unpack(version);
    const release = schemaOf(path);
    const [backups, lines] = [join(path, '../copies'), [] as string[]];
    const log = pino({}, { write: (line) => void lines.push(line) });
    const start = async () => {
      const serving = await serveHere({ DATABASE_URL: `sqlite:${path}`, BACKUP_DIR: backups }, { log });
      await serving.close();
    };
    const listBackups = () => readdirSync(backups).filter((name) => name.endsWith('.db'));
    await start();
    const [backup = ''] = listBackups();
    expect([release < schemaOf(path), schemaOf(join(backups, backup))]).toEqual([true, release]);
    expect(lines.join('')).toContain('a backup was made and verified before the database update');
    await start();
    expect(listBackups()).toEqual([backup]);
  });

  test('is neither changed nor served while there is no space for the backup', async () => {
    const path = unpack(version);
    const release = schemaOf(path);
    const { bavail, bsize } = statfsSync(path);
    // Creates a sparse write-ahead log that is too large for the disk to hold a copy of it.
    writeFileSync(`${path}-wal`, '');
    truncateSync(`${path}-wal`, bavail * bsize);
    const starting = serveHere({ DATABASE_URL: `sqlite:${path}` });
    await expect(starting).rejects.toThrow(
      /could not make a backup first: .*too little space.* Free disk space, or set BACKUP_DIR/,
    );
    expect(schemaOf(path)).toBe(release);
  });

  test('is not migrated by a command, which tells the user to start the server', async () => {
    const path = unpack(version);
    const release = schemaOf(path);
    const { code, stderr } = await firsthand(['account', 'list'], { DATABASE_URL: `sqlite:${path}` });
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/has an older schema: start the server with this version/),
    ]);
    expect([schemaOf(path), existsSync(join(path, '../backups'))]).toEqual([release, false]);
  });
});
