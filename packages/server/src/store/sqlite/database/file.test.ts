import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { bundle, threads } from '../../../../build/bundle.ts';
import { removeAuditLog } from '../../../../test/fixtures/audit-log.ts';
import { createSite } from '../../../../test/fixtures/site.ts';
import { newEvent, newToken } from '../../../../test/fixtures/store.ts';
import { soon } from '../../../../test/fixtures/timeouts.ts';
import { openStore, type StoreOptions } from '../../open.ts';
import type { Store } from '../../store.ts';
import { StoreUnusable } from '../../unusable.ts';
import { backupDatabase } from './backup.ts';
import Database from './better-sqlite3.ts';
import { applicationID, openConnection } from './connection.ts';
import { examineDatabase } from './doctor.ts';
import { ensureFile } from './file.ts';
import { getNewestMigration } from './migrate.ts';

/** The folder with the built program that opens a store in another process. */
let built: string;
beforeAll(async () => {
  built = mkdtempSync(join(tmpdir(), 'firsthand-opener-'));
  await bundle(['test/fixtures/opener.ts', ...threads], built);
});
afterAll(() => rmSync(built, { recursive: true }));

let folder: string;
let path: string;
const stores: Store[] = [];
const processes: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'firsthand-'));
  path = join(folder, 'firsthand.db');
});
afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  for (const child of processes.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.stdin?.end();
    await once(child, 'exit');
  }
  rmSync(folder, { recursive: true });
});

const open = async (
  role: StoreOptions['role'] = 'server',
  { databaseURL = `sqlite:${path}`, create = false } = {},
): Promise<Store> => {
  const onFatal = (error: Error) => {
    throw error;
  };
  const store = await openStore({ databaseURL, role, create, onFatal });
  stores.push(store);
  return store;
};
const close = async (store: Store) => {
  stores.splice(stores.indexOf(store), 1);
  await store.close();
};

interface Opener {
  readonly child: ChildProcess;
  readonly answer: { open: boolean; accounts?: number; name?: string; message?: string };
}
/** Opens the store in another process. Resolves when it is open or was refused. */
const openElsewhere = async (role: StoreOptions['role'] = 'server'): Promise<Opener> => {
  const child = spawn(process.execPath, [join(built, 'opener.cjs'), `sqlite:${path}`, role], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_PATH: fileURLToPath(new URL('../../../../../../node_modules', import.meta.url)) },
  });
  processes.push(child);
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return { child, answer: JSON.parse(line) };
};

const hashOf = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');

let filled: Buffer | undefined;
/** Creates a database with some data. No process has it open. */
const createDatabase = async () => {
  if (!filled) {
    const store = await open('command', { create: true });
    const { server } = await createSite(store);
    await server.log(...Array.from({ length: 200 }, () => ({ attributes: [['note', 'x'.repeat(500)]] as const })));
    await server.createContact();
    await close(store);
    filled = readFileSync(path);
  }
  writeFileSync(path, filled);
};

/** Creates a database with the first schema and one account. Returns its accountUUID. */
const createOlder = (file: string): string => {
  const db = new Database(file);
  db.exec(readFileSync(new URL('../migrations/0.1.0/0001-first.sql', import.meta.url), 'utf8'));
  db.pragma('user_version = 1');
  db.pragma(`application_id = ${applicationID}`);
  db.pragma('journal_mode = WAL');
  db.exec(`INSERT INTO account VALUES (1, 'account-of-old', 'Shop', '[]', 'UTC', 0, 0)`);
  db.close();
  return 'account-of-old';
};

/** Returns the schema version and definitions of a database. */
const schemaOf = (file: string) => {
  const db = new Database(file, { readonly: true });
  const number = db.pragma('user_version', { simple: true });
  const definitions = db.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name').all();
  db.close();
  return { number, definitions };
};

describe('a database file', () => {
  test('is created with its folders if they are missing, and leaves no other files', async () => {
    path = join(folder, 'some', 'where', 'new.db');
    const store = await open();
    const { accountUUID } = await createSite(store);
    await close(store);
    expect(readdirSync(join(folder, 'some', 'where')).sort()).toEqual(['new.db', 'new.db-lock']);
    const again = await open('command');
    expect(await again.listAccounts()).toMatchObject([{ accountUUID }]);
  });

  test('has its own secret, and ignores a killed process’s journal', async () => {
    const secretOf = (file: string) => {
      ensureFile(file);
      const db = new Database(file, { readonly: true });
      const secret = db.prepare<[], Buffer>('SELECT secret FROM position').pluck().get() as Buffer;
      db.close();
      return secret.toString('hex');
    };
    writeFileSync(`${path}.${process.pid}.new-journal`, 'x'.repeat(4_096));
    const other = `${path}-other`;
    expect(secretOf(path)).not.toBe(secretOf(other));
    expect(readdirSync(folder).filter((name) => name.includes('.new'))).toEqual([]);
  });

  test('keeps its events and continues its sequence when another server opens it', async () => {
    let store = await open();
    const { account, server, time } = await createSite(store);
    const caller = { account, token: server.token, browser: false };
    const log = async (eventUUID: string) =>
      store.logEvents({ ...caller, receivedTime: time, events: [newEvent({ eventUUID })] });
    const sequences = async () =>
      (await store.getEvents({ account, order: 'asc', limit: 10 })).events.map(({ sequence }) => sequence);
    await log('event-first');
    await close(store);
    store = await open();
    await log('event-second');
    expect(await log('event-first')).toEqual([{ kept: false, duplicate: true }]);
    const [first, second] = (await sequences()) as [number, number];
    expect(second).toBeGreaterThan(first);
    await store.deleteEventsBefore({ time: time + 1, limit: 10 });
    await close(store);
    store = await open();
    await log('event-third');
    const [third] = (await sequences()) as [number];
    expect(third).toBeGreaterThan(second);
  });

  test('syncs every commit on each connection, even after a write', async () => {
    await createDatabase();
    for (const mode of ['write', 'read'] as const) {
      const db = openConnection(path, mode);
      expect(db.pragma('synchronous', { simple: true })).toBe(2);
      if (mode === 'write') db.exec('UPDATE position SET access = access + 1');
      db.prepare('SELECT * FROM position').get();
      expect(db.pragma('synchronous', { simple: true })).toBe(2);
      expect(db.pragma('journal_mode', { simple: true })).toBe('wal');
      db.close();
    }
  });

  test('completes pending calls before it closes', async () => {
    const store = await open();
    const { server } = await createSite(store);
    const pending: Promise<unknown>[] = [];
    const thousand = Array.from({ length: 1_000 }, () => ({}));
    for (let turn = 0; turn < 5; turn += 1) {
      pending.push(server.log(...thousand), store.check());
      await new Promise(setImmediate);
    }
    await close(store);
    const settled = await Promise.allSettled(pending);
    expect(settled.filter(({ status }) => status === 'rejected')).toEqual([]);
  });
});

describe('a second server on the same file', () => {
  const expectRefusal = (error: unknown) => {
    expect(error).toBeInstanceOf(StoreUnusable);
    expect((error as Error).message).toContain(path);
    expect((error as Error).message).toMatch(/being served already/);
  };

  test('is refused quickly, and the first server keeps serving', async () => {
    const { child, answer } = await openElsewhere();
    expect(answer).toMatchObject({ open: true });
    const started = performance.now();
    const error = await open().catch((thrown: unknown) => thrown);
    expect(performance.now() - started).toBeLessThan(soon.timeout);
    expectRefusal(error);
    expect(child.exitCode).toBeNull();
  });

  test('is also refused in the same process, by any path', async () => {
    const store = await open();
    expectRefusal(await open().catch((thrown: unknown) => thrown));
    expect(
      await open('server', { databaseURL: `sqlite:${folder}/./firsthand.db` }).catch((thrown: unknown) => thrown),
    ).toBeInstanceOf(StoreUnusable);
    await createSite(store);
  });

  test('can start after the first server was closed or killed', async () => {
    await close(await open());
    await close(await open());
    const { child } = await openElsewhere();
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await (await open()).listAccounts()).toEqual([]);
  });

  test('is refused, like all but the first, if several start concurrently without a file', async () => {
    const openers = await Promise.all([openElsewhere(), openElsewhere(), openElsewhere()]);
    const refused = openers.filter(({ answer }) => !answer.open);
    expect(openers.filter(({ answer }) => answer.open)).toHaveLength(1);
    for (const { answer } of refused) expect(answer).toMatchObject({ name: 'StoreUnusable' });
    expect(readdirSync(folder).filter((file) => file.includes('new'))).toEqual([]);
  });
});

describe('openStore, given a file that cannot be served,', () => {
  const files: [string, RegExp, () => Promise<void>][] = [
    ['an empty file', /is empty/, async () => writeFileSync(path, '')],
    ['a text file', /cannot be read as a database/, async () => writeFileSync(path, 'not a database\n'.repeat(1_000))],
    [
      'another program’s database',
      /another program's database/,
      async () => {
        const db = new Database(path);
        db.exec('CREATE TABLE account (name TEXT); PRAGMA application_id = 1');
        db.close();
      },
    ],
    [
      'a database without an application_id',
      /another program's database/,
      async () => {
        const db = new Database(path);
        db.exec('CREATE TABLE account (name TEXT)');
        db.close();
      },
    ],
    [
      'a Firsthand database that was truncated between two pages',
      /cannot be read as a database/,
      async () => {
        await createDatabase();
        truncateSync(path, 4_096 * Math.floor(statSync(path).size / 4_096 / 2));
      },
    ],
    [
      'a Firsthand database that was truncated within a page',
      /cannot be read as a database/,
      async () => {
        await createDatabase();
        truncateSync(path, 1_000);
      },
    ],
    [
      'a database of a newer Firsthand',
      /newer Firsthand/,
      async () => {
        await createDatabase();
        const db = new Database(path);
        db.pragma(`user_version = ${getNewestMigration() + 1}`);
        db.close();
      },
    ],
    [
      'a backup of a newer Firsthand',
      /newer Firsthand/,
      async () => {
        await createDatabase();
        const db = new Database(path);
        db.pragma('journal_mode = DELETE');
        db.pragma(`user_version = ${getNewestMigration() + 1}`);
        db.close();
      },
    ],
  ];

  test.each(files)('refuses %s, and does not change a byte of it', async (_name, reason, create) => {
    await create();
    const before = hashOf(path);
    for (const role of ['server', 'command'] as const) {
      const error = await open(role).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(StoreUnusable);
      expect((error as Error).message).toContain(path);
      expect((error as Error).message).toMatch(reason);
      expect(hashOf(path)).toBe(before);
    }
  });

  test('refuses a folder', async () => {
    mkdirSync(path);
    await expect(open()).rejects.toThrow(StoreUnusable);
  });

  test('refuses a dangling symbolic link, and does not create its target', async () => {
    symlinkSync(join(folder, 'not-mounted', 'firsthand.db'), path);
    for (const role of ['server', 'command'] as const) {
      await expect(open(role, { create: true })).rejects.toThrow(path);
    }
    expect(readlinkSync(path)).toBe(join(folder, 'not-mounted', 'firsthand.db'));
    expect(existsSync(path)).toBe(false);
  });

  test('refuses a name that is too long for a journal file, and leaves no files', async () => {
    path = join(folder, 'a'.repeat(255 - `.${process.pid}.new`.length));
    const error = await open().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StoreUnusable);
    expect((error as Error).message).toContain(`${path} cannot be created`);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('refuses a database without a write-ahead log', () => {
    // Opens an empty name, which is a temporary database, for which SQLite has no WAL mode.
    expect(() => openConnection('', 'write')).toThrow(StoreUnusable);
  });
});

describe('a command that runs alongside a server', () => {
  test('creates accounts and tokens that the server notices immediately', async () => {
    const serving = await open();
    const command = await open('command');
    const { account } = await createSite(command);
    expect(await serving.listAccounts()).toMatchObject([{ account }]);
    const token = newToken('server');
    await command.createToken({ ...token, account });
    expect(await serving.findAccess(token.hash)).toMatchObject({ tokenID: token.tokenID, account });
    await command.revokeToken({ account, tokenID: token.tokenID, time: 1 });
    expect(await serving.findAccess(token.hash)).toBeUndefined();
  });

  test('revokes a token, which immediately stops working in both processes', async () => {
    const serving = await open();
    const { account } = await createSite(serving);
    const [token, other] = [newToken('browser'), newToken('browser')];
    await serving.createToken({ ...token, account });
    await serving.createToken({ ...other, account });
    expect(await serving.findAccess(token.hash)).toBeDefined();
    const command = await open('command');
    expect(await command.findAccess(token.hash)).toBeDefined();
    await command.revokeToken({ account, tokenID: token.tokenID, time: 1 });
    expect(await serving.findAccess(token.hash)).toBeUndefined();
    expect(await command.findAccess(token.hash)).toBeUndefined();
    await serving.revokeToken({ account, tokenID: other.tokenID, time: 1 });
    expect(await command.findAccess(other.hash)).toBeUndefined();
  });

  test('changes an account with immediate effect on the server’s writes', async () => {
    const serving = await open();
    const site = await createSite(serving);
    expect(await site.browser.log({ eventID: 7 })).toEqual([{ kept: true }]);
    const command = await open('command');
    const change = { account: site.account, contacts: [], time: site.time };
    await command.updateAccount({ ...change, catalogues: { event: [{ id: '7', browser: false }] } });
    expect(await site.browser.log({ eventID: 7 })).toMatchObject([{ refused: 'id_not_for_browser' }]);
    await command.updateAccount({ ...change, strict: true, catalogues: {} });
    expect(await site.server.log({ eventID: 8 })).toMatchObject([{ refused: 'unknown_id' }]);
  });

  test('shares one sequence with the server, and reads events as soon as they are stored', async () => {
    const serving = await open();
    const site = await createSite(serving);
    const command = await open('command');
    const { account, server, time } = site;
    for (let nth = 0; nth < 10; nth += 1) {
      await server.log({ eventUUID: `event-of-server-${nth}` });
      const events = [newEvent({ eventUUID: `event-beside-${nth}` })];
      await command.logEvents({ account, token: server.token, browser: false, receivedTime: time, events });
      const page = await command.getEvents({ account, order: 'asc', limit: 100 });
      expect(page.events).toHaveLength(2 * (nth + 1));
      expect(await site.events()).toEqual(page.events);
    }
    expect(await site.count()).toBe(20);
  });

  test('works without a server, and creates a missing file only with `create`', async () => {
    const error = await open('command').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StoreUnusable);
    expect((error as Error).message).toBe(
      `there is no database at ${path}: create it with firsthand serve or firsthand account create`,
    );
    expect(readdirSync(folder)).toEqual([]);
    const command = await open('command', { create: true });
    await createSite(command);
    await close(command);
    const store = await open();
    expect(await store.listAccounts()).toHaveLength(1);
  });

  test('leaves an older schema to the server, which migrates the file and keeps its data', async () => {
    const accountUUID = createOlder(path);
    const before = readFileSync(path);
    for (const create of [false, true]) {
      const error = await open('command', { create }).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(StoreUnusable);
      expect((error as Error).message).toBe(
        `${path} has an older schema: start the server with this version of Firsthand first; it backs up the database and updates it`,
      );
    }
    expect(readFileSync(path).equals(before)).toBe(true);
    const serving = await open();
    await serving.check();
    expect(await serving.listAccounts()).toMatchObject([{ accountUUID }]);
    const fresh = join(folder, 'fresh.db');
    await close(await open('command', { databaseURL: `sqlite:${fresh}`, create: true }));
    expect(schemaOf(path)).toEqual(schemaOf(fresh));
  });

  test('can start at the same time as others without a file', async () => {
    const openers = await Promise.all([1, 2, 3, 4].map(() => openElsewhere('command')));
    for (const { answer } of openers) expect(answer).toMatchObject({ open: true, accounts: 0 });
  });
});

describe('a server whose threads cannot open the database', () => {
  test('fails with the reason, and leaves nothing open', async () => {
    await createDatabase();
    const damage = (sql: string) => {
      const db = new Database(path);
      db.exec(sql);
      db.close();
    };
    damage('ALTER TABLE erased_repeat RENAME TO lost');
    const onFatal = vi.fn();
    const opening = openStore({ databaseURL: `sqlite:${path}`, role: 'server', onFatal });
    const error = await opening.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StoreUnusable);
    expect((error as Error).message).toMatch(/cannot be served: no such table: erased_repeat/);
    expect(onFatal).not.toHaveBeenCalled();
    damage('ALTER TABLE lost RENAME TO erased_repeat');
    expect(readdirSync(folder).sort()).toEqual(['firsthand.db', 'firsthand.db-lock']);
    await (await open()).check();
  });
});

describe('an erased contact', () => {
  /**
   * Lists the files that contain a string, in another process, because closing the database file in this process would
   * release its locks (fcntl(2)).
   */
  const filesWith = (text: string): Promise<string> =>
    new Promise((resolve) => {
      execFile(
        'grep',
        ['--recursive', '--text', '--files-with-matches', '--fixed-strings', text, folder],
        (_, stdout) => resolve(stdout),
      );
    });

  test('leaves no trace of its names or events in the files', async () => {
    const store = await open();
    const site = await createSite(store, { browserCatalogue: true });
    const fill = (nth: number, secret: string) => ({
      userUUID: `visitor-number-${nth}`,
      address: `${secret}-${nth}@example.com`,
      fields: { contactFirstname: `${secret}-first-${nth}`, contactLastname: `${secret}-last-${nth}` },
      tags: [],
      attributes: [['note', `${secret}-note-${nth}`]] as const,
    });
    for (let nth = 0; nth < 60; nth += 1) await site.server.createContact(fill(nth, 'harmless'));
    const { contactUUID } = await site.server.createContact(fill(61, 'identifying'));
    await site.browser.createContact({ ...fill(62, 'identifying'), address: 'identifying-61@example.com' });
    await site.update({
      contactUUID,
      fields: { contactJobRole: 'identifying-job' },
      attributes: [['note', 'identifying-2']],
    });
    for (let nth = 0; nth < 60; nth += 1) await site.browser.createContact(fill(nth, 'claimed'));
    const events = Array.from({ length: 50 }, (_, nth) => ({
      userUUID: 'visitor-number-61',
      eventUUID: `identifying-event-${nth}`,
      attributes: [['search', `identifying-search-${nth}`]] as const,
    }));
    await site.server.log(...events);
    // Creates more events than an erasure's first commit processes.
    const requests = Array.from({ length: 40 }, () => ({
      operation: 'createContact' as const,
      input: { contactEmailaddress: 'identifying-61@example.com', text: 'x'.repeat(20_000) },
      address: 'identifying-61@example.com',
      code: 'invalid_field' as const,
      message: '',
    }));
    const { account, time, server } = site;
    await store.addRefused({ account, token: server.token, time, sender: 0, requests });
    expect(await filesWith('identifying')).not.toBe('');
    expect(await filesWith(contactUUID)).not.toBe('');
    await site.erase(contactUUID);
    await vi.waitFor(async () => expect(await filesWith('identifying')).toBe(''), { ...soon, interval: 100 });
    expect(await filesWith('harmless-first-59')).not.toBe('');
    await close(store);
    expect(await filesWith('identifying')).toBe('');
    // Removes the audit log, which alone still has the erased contactUUID.
    removeAuditLog(path);
    expect(await filesWith(contactUUID)).toBe('');
  });

  test('continues to be erased by the next server', async () => {
    const store = await open();
    const site = await createSite(store);
    const { contactUUID } = await site.server.createContact();
    const count = 5_000;
    for (let sent = 0; sent < count; sent += 1_000) {
      await site.server.log(...Array.from({ length: 1_000 }, (_, nth) => ({ eventUUID: `event-${sent + nth}` })));
    }
    await site.erase(contactUUID);
    await close(store);
    const again = await open();
    const readProgress = () => again.eraseContact({ account: site.account, contactUUID, time: 0 });
    await vi.waitUntil(async () => (await readProgress()).complete, { ...soon, interval: 50 });
    expect(await readProgress()).toMatchObject({ erasedTime: site.time, deletedEvents: count });
    expect((await again.getAccount(site.account)).usage.events).toBe(0);
  });
});

describe('a backup', () => {
  test('is a consistent copy, made while a server keeps writing', async () => {
    const store = await open();
    const site = await createSite(store);
    await site.server.log({ eventUUID: 'event-before' });
    const target = join(folder, 'backup.db');
    backupDatabase(path, target);
    await site.server.log({ eventUUID: 'event-after' });
    const copy = await open('command', { databaseURL: `sqlite:${target}` });
    const { events } = await copy.getEvents({ account: site.account, order: 'asc', limit: 10 });
    expect(events.map(({ eventUUID }) => eventUUID)).toEqual(['event-before']);
    expect(Object.keys(await site.owners())).toEqual(['event-before', 'event-after']);
    expect(readdirSync(folder).filter((file) => file.includes('.new'))).toEqual([]);
  });

  test('never replaces a file, and leaves no file if it fails', async () => {
    await createDatabase();
    const target = join(folder, 'backup.db');
    writeFileSync(target, 'mine');
    expect(() => backupDatabase(path, target)).toThrow(StoreUnusable);
    expect(readFileSync(target, 'utf8')).toBe('mine');
    expect(() => backupDatabase(join(folder, 'none.db'), join(folder, 'other.db'))).toThrow();
    expect(() => backupDatabase(path, join(folder, 'no', 'folder', 'other.db'))).toThrow();
    expect(readdirSync(folder).filter((file) => file.includes('other') || file.includes('none'))).toEqual([]);
  });
});

describe('examineDatabase', () => {
  const findings = async () =>
    Object.fromEntries((await examineDatabase(path)).map(({ name, ok, detail }) => [name, { ok, detail }]));

  test('reports no problem with an intact database, whether or not it is served', async () => {
    await createDatabase();
    const before = hashOf(path);
    const found = await findings();
    for (const name of ['file', 'structure', 'references', 'schema', 'accounts', 'erasures', 'events', 'server']) {
      expect(found[name], name).toMatchObject({ ok: true });
    }
    expect(found.server).toMatchObject({ detail: 'not running' });
    expect(hashOf(path)).toBe(before);
    await open();
    expect((await findings()).server).toMatchObject({ ok: true, detail: 'running' });
    await expect(open()).rejects.toThrow(StoreUnusable);
  });

  test('reports a missing, unreadable or damaged file', async () => {
    expect(await findings()).toMatchObject({ file: { ok: false, detail: expect.stringContaining(path) } });
    writeFileSync(path, 'text\n'.repeat(1_000));
    expect(await findings()).toMatchObject({ file: { ok: false, detail: expect.stringContaining(path) } });
    rmSync(path);
    await createDatabase();
    const copy = `${path}-copy`;
    copyFileSync(path, copy);
    const bytes = readFileSync(copy);
    bytes.fill('damage', 8 * 4_096, 30 * 4_096);
    writeFileSync(path, bytes);
    const { file, structure } = await findings();
    expect([file?.ok, structure?.ok]).toContain(false);
  });

  test('reports another program’s database and an older schema', async () => {
    const db = new Database(path);
    db.exec('CREATE TABLE account (name TEXT)');
    db.close();
    expect(await findings()).toMatchObject({ file: { ok: false, detail: `${path} is another program's database` } });
    rmSync(path);
    createOlder(path);
    const { schema } = await findings();
    expect(schema).toMatchObject({
      ok: false,
      detail: expect.stringMatching(/^1; .*the server updates it at start, after a backup$/),
    });
    await close(await open());
    expect((await findings()).schema).toMatchObject({ ok: true });
  });

  test('reports that there are no accounts, events or backups', async () => {
    await close(await open('command', { create: true }));
    expect(await findings()).toMatchObject({
      accounts: { ok: false },
      clock: { ok: true, detail: 'no events received yet' },
      'refused requests': { ok: true, detail: '0 listed, 0 evicted' },
      backup: { ok: false, detail: 'there is no backup: set BACKUP_DIR, or run firsthand backup <file>' },
    });
  });

  test('reports how many refused requests are listed and evicted', async () => {
    const store = await open('command', { create: true });
    const { account, server, time } = await createSite(store);
    const request = { operation: 'logEvent', input: {}, address: null, code: 'missing_field', message: '' } as const;
    const refuse = (count: number) =>
      store.addRefused({ account, token: server.token, time, sender: 0, requests: Array(count).fill(request) });
    await refuse(1_000);
    await refuse(2);
    const detail = '1000 listed, 2 evicted; run firsthand refused list to see them';
    expect(await findings()).toMatchObject({ 'refused requests': { ok: true, detail } });
  });

  test('reports all other findings if the lock file cannot be opened', async () => {
    await createDatabase();
    // Creates a lock file that cannot be opened, like another user's file.
    rmSync(`${path}-lock`, { force: true });
    mkdirSync(`${path}-lock`);
    const { server, events } = await findings();
    expect(server).toMatchObject({ ok: false, detail: expect.stringContaining('cannot tell whether it is running') });
    expect(events).toMatchObject({ ok: true });
  });

  test('reports the age of the last backup and warns if it is old', async () => {
    await createDatabase();
    backupDatabase(path, join(folder, 'copy.db'));
    expect((await findings()).backup).toEqual({ ok: true, detail: 'the last backup is 0.0 days old' });
    const before = new Date(Date.now() - 8 * 86_400_000);
    utimesSync(`${path}-backup`, before, before);
    expect((await findings()).backup).toEqual({ ok: false, detail: 'the last backup is 8.0 days old' });
  });
});
