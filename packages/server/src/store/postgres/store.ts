/** The store on PostgreSQL: any number of servers over one database. */
import { Refusal } from '../../refusal.ts';
import { createBackpressure } from '../backpressure.ts';
import type { AuditedName } from '../rules/audit.ts';
import type { EventBatch, EventOutcome, RefusedReplay, ReplayedAnswer, ReplayedWrite, Store } from '../store.ts';
import { StoreUnusable } from '../unusable.ts';
import { createAccess } from './accounts/access.ts';
import { createAccountWriter, findAccount, getAccount, listAccounts, measureAccounts } from './accounts/accounts.ts';
import { listAudit, recordAudit, recording } from './accounts/audit.ts';
import { createCatalogueWriter } from './accounts/catalogues.ts';
import { countRefused, createRefusedWriter, listRefused } from './accounts/refused-requests.ts';
import { createToken, findProofKeys, listTokens, noteTokenUses, revokeToken } from './accounts/tokens.ts';
import { noteUnknownProxy } from './accounts/unknown-proxy.ts';
import { createContactReader } from './contacts/contact-details.ts';
import { createContactFinder } from './contacts/contact-finder.ts';
import { createContactWriter } from './contacts/contacts.ts';
import { createContactCreator } from './contacts/create-contact.ts';
import { createLinkWriter } from './contacts/links.ts';
import { createMergeWriter } from './contacts/merges.ts';
import { createUsers } from './contacts/users.ts';
import {
  type Connection,
  type ConnectionPool,
  codeOf,
  hasTable,
  inOrder,
  Overtaken,
  openPool,
} from './database/connection.ts';
import { createPostgresRoom } from './database/disk-space.ts';
import { migrate, newestMigration, readSchema } from './database/migrate.ts';
import { startWatch } from './database/watch.ts';
import { createErasures } from './erasure/erasures.ts';
import { startMaintenance } from './erasure/maintenance.ts';
import { countEvents, getEventDefinitions } from './events/counts.ts';
import { createDedup } from './events/dedup.ts';
import { walkingInOrder } from './events/event-order.ts';
import { createEventPager } from './events/event-pages.ts';
import { createEventWriter } from './events/events.ts';
import { readOnce, readSnapshot, type Transaction, writeAlone, writeBesideOthers } from './transactions/transaction.ts';
import { createTurns } from './transactions/turns.ts';
import { createWriteQueue, mostUnderWay } from './transactions/write-queue.ts';

/** A server's connections, besides those that store events (`mostUnderWay`) and the one that listens. */
const mostWriting = 4;
const mostReading = 4;
/** For fast reads, above all of tokens, which must not wait for slow ones. */
const mostQuick = 2;

interface Prepared {
  /** The key of the hashes that the database stores. */
  readonly secret: Buffer;
  /** Whether repeats without a known holder are stored. */
  readonly withErased: boolean;
  /** Whether repeats may be stored from before kinds of tokens were distinguished. */
  readonly withEither: boolean;
}

/** Migrates the database, and checks that it can be served. */
const prepare = async (
  pool: ConnectionPool,
  { role, create }: { role: 'server' | 'beside'; create: boolean },
): Promise<Prepared> => {
  const db = await pool.take();
  try {
    const schema = await readSchema(db);
    if (schema === 0 && role === 'beside' && !create) {
      throw new StoreUnusable(
        'there is nothing of Firsthand in this database: firsthand serve or firsthand account create makes it',
      );
    }
    if (schema > 0 && schema < newestMigration() && role === 'beside') {
      throw new StoreUnusable('this database has an older schema: start a server with this Firsthand first');
    }
    await migrate(db);
    if (await hasTable(db, 'copying')) {
      throw new StoreUnusable('a copy into this database is not complete: firsthand copy goes on with it');
    }
    return await db.one<Prepared>(
      `SELECT secret, EXISTS (SELECT FROM event_repeat WHERE holder = 0) AS "withErased",
         EXISTS (SELECT FROM kept_day WHERE "ofEither") AS "withEither" FROM position`,
    );
  } finally {
    db.release(false);
  }
};

/** Creates the writes of the store; each takes its transaction as a parameter. */
const createWrites = ({ secret, withErased, withEither }: Prepared) => {
  const finder = createContactFinder(secret);
  const dedup = createDedup(secret, { withErased, withEither });
  const users = createUsers();
  const catalogues = createCatalogueWriter();
  const contacts = createContactWriter(finder, catalogues);
  const refused = createRefusedWriter(finder);
  const keepEvents = createEventWriter({ users, catalogues, finder, dedup });
  const createContact = createContactCreator({ users, catalogues, finder, contacts, dedup });
  const { updateContact } = contacts;

  /** Stores all of the events, or throws the first Refusal. */
  const replayEvents = async (db: Transaction, batch: EventBatch): Promise<EventOutcome[]> => {
    const [outcomes = []] = await keepEvents(db, [batch]);
    for (const outcome of outcomes) {
      if ('refused' in outcome) throw new Refusal(outcome.refused, { field: outcome.field, message: outcome.message });
    }
    return outcomes;
  };

  const carryOut = (db: Transaction, replay: ReplayedWrite): Promise<ReplayedAnswer> => {
    if (replay.write === 'createContact') return createContact(db, replay.request);
    if (replay.write === 'updateContact') return updateContact(db, replay.request);
    return replayEvents(db, replay.request);
  };

  return {
    finder,
    keepEvents,
    /** Writes that run beside others. */
    beside: {
      ...createAccountWriter(catalogues, finder, contacts),
      createToken,
      revokeToken,
      noteTokenUses,
      ...createLinkWriter(users, finder),
      createContact,
      updateContact,
      keepRefused: refused.keepRefused,
      async replayRefused(db: Transaction, replay: RefusedReplay): Promise<ReplayedAnswer | undefined> {
        const listed = await refused.find(db, replay.refused);
        if (!listed) return undefined;
        const answer = await carryOut(db, replay);
        // Refused requests come late in the order of held-rows.ts, so that this and an erasure do not wait for each other.
        if (!(await refused.takeReplayed(db, listed))) throw new Overtaken();
        return answer;
      },
    },
    /** Writes that run alone, because all others depend on what they change. */
    alone: createMergeWriter(finder),
    erasures: createErasures({ finder, dedup, refused }),
  };
};

/** Wraps an error of the start in a StoreUnusable, without the URL, which may contain a password. */
const toUnusable = (error: unknown): unknown =>
  error instanceof StoreUnusable
    ? error
    : new StoreUnusable(
        `the PostgreSQL database that DATABASE_URL names cannot be served: ${codeOf(error)} ${(error as Error).message}`,
        { cause: error },
      );

/** Opens a PostgreSQL database. Throws StoreUnusable when it cannot be served. */
export const openPostgres = async (
  databaseURL: string,
  { role, create }: { role: 'server' | 'beside'; create: boolean },
): Promise<Store> => {
  const pools = {
    events: openPool(databaseURL, mostUnderWay),
    writes: openPool(databaseURL, mostWriting),
    reads: openPool(databaseURL, mostReading, inOrder),
    quick: openPool(databaseURL, mostQuick),
  };
  const closePools = () => Promise.all(Object.values(pools).map((pool) => pool.close()));
  const prepared = await prepare(pools.writes, { role, create }).catch(async (error: unknown) => {
    await closePools();
    throw toUnusable(error);
  });

  const { finder, keepEvents, beside, alone, erasures } = createWrites(prepared);
  const waiting = createBackpressure();
  const room = createPostgresRoom(pools.quick);
  let isClosed = false;

  /** Runs work while the store is open. Throws Refusal('not_kept') when too much waits already. */
  const admitted = async <Value>(request: unknown, work: () => Promise<Value>): Promise<Value> => {
    if (isClosed) throw new Error('the store is closed');
    const bytes = waiting.enter(request);
    try {
      return await work();
    } catch (error) {
      room.noteFailure(error);
      throw error;
    } finally {
      waiting.leave(bytes);
    }
  };

  const read = <Value>(work: (db: Connection) => Promise<Value>) => readSnapshot(pools.reads, 'now', work);
  const access = createAccess((work) => readOnce(pools.quick, work));
  const listeners = new Set<() => void>();
  const committed = () => {
    for (const listener of listeners) listener();
  };
  const watch = startWatch(databaseURL, access, committed);

  const keep = (batches: readonly EventBatch[]) => writeBesideOthers(pools.events, (db) => keepEvents(db, batches));
  const queue = createWriteQueue(keep, (error) => error instanceof Refusal);

  const inTurn = createTurns();
  type Work<Request, Value> = (db: Transaction, request: Request) => Promise<Value>;
  /** `turns` returns the keys of the queues in which the write waits for its turn (turns.ts). */
  const writing =
    (mode: typeof writeAlone) =>
    <Request, Value>(work: Work<Request, Value>, turns: (request: Request) => readonly string[] = () => []) =>
    (request: Request): Promise<Value> =>
      admitted(request, async () => {
        const write = () => mode(pools.writes, (db) => work(db, request));
        const value = await turns(request).reduceRight((next, key) => () => inTurn(key, next), write)();
        committed();
        return value;
      });
  const besideOthers = writing(writeBesideOthers);
  const byItself = writing(writeAlone);
  const audited = <Request, Value>(name: AuditedName, how: typeof besideOthers, work: Work<Request, Value>) =>
    how(recording(name, work));
  const reading =
    <Request, Value>(work: (db: Connection, request: Request) => Promise<Value>) =>
    (request: Request): Promise<Value> =>
      admitted(request, () => read((db) => work(db, request)));
  const readingOnce =
    <Request, Value>(work: (db: Connection, request: Request) => Promise<Value>) =>
    (request: Request): Promise<Value> =>
      admitted(request, () => readOnce(pools.quick, (db) => work(db, request)));
  /** Wraps a write that changes tokens, so that this server uses the change before the write's promise resolves. */
  const changingAccess =
    <Request, Value>(work: (request: Request) => Promise<Value>) =>
    async (request: Request): Promise<Value> => {
      const value = await work(request);
      access.forget();
      return value;
    };

  const maintenance =
    role === 'server'
      ? startMaintenance((step) => writeBesideOthers(pools.writes, step), erasures.continueErasures)
      : undefined;
  const { getContact, searchContact } = createContactReader(finder);
  const getEvents = createEventPager(finder);
  const erase = audited('eraseContact', besideOthers, erasures.eraseContact);

  return {
    createAccount: changingAccess(audited('createAccount', besideOthers, beside.createAccount)),
    updateAccount: changingAccess(audited('updateAccount', besideOthers, beside.updateAccount)),
    createToken: changingAccess(audited('createToken', besideOthers, beside.createToken)),
    revokeToken: changingAccess(audited('revokeToken', besideOthers, beside.revokeToken)),
    noteTokenUses: besideOthers(beside.noteTokenUses),
    noteUnknownProxy: besideOthers(noteUnknownProxy),
    recordAudit: besideOthers(recordAudit),
    createContact: besideOthers(beside.createContact, ({ account, userUUID, address }) => [
      `user ${account} ${userUUID}`,
      `address ${account} ${address}`,
    ]),
    updateContact: besideOthers(beside.updateContact),
    linkUser: audited('linkUser', besideOthers, beside.linkUser),
    unlinkUser: audited('unlinkUser', besideOthers, beside.unlinkUser),
    voidLinks: audited('voidLinks', besideOthers, beside.voidLinks),
    acceptClaim: audited('acceptClaim', besideOthers, beside.acceptClaim),
    voidClaim: audited('voidClaim', besideOthers, beside.voidClaim),
    keepRefused: besideOthers(beside.keepRefused),
    replayRefused: audited('replayRefused', besideOthers, beside.replayRefused),
    mergeContact: audited('mergeContact', byItself, alone.mergeContact),
    unmergeContact: audited('unmergeContact', byItself, alone.unmergeContact),
    deleteEventsBefore: besideOthers(erasures.deleteEventsBefore),
    async eraseContact(request) {
      const receipt = await erase(request);
      if (!receipt.complete) maintenance?.wake();
      return receipt;
    },
    logEvents: (batch) =>
      admitted(batch, async () => {
        const outcomes = await queue(batch);
        committed();
        return outcomes;
      }),

    findAccess: (tokenHash, time = Date.now()) => admitted(tokenHash, () => access.findAccess(tokenHash, time)),
    wasMade: (tokenHash) => admitted(tokenHash, () => access.wasMade(tokenHash)),
    findAccount: readingOnce(findAccount),
    findProofKeys: readingOnce(findProofKeys),
    listTokens: readingOnce(listTokens),
    listAudit: readingOnce(listAudit),
    listAccounts: () => readingOnce(listAccounts)(undefined),
    getAccount: reading(getAccount),
    measureAccounts: () => reading(measureAccounts)(undefined),
    getContact: reading(getContact),
    searchContact: (search) => {
      const wanted = search.address === undefined ? 'all contacts settled' : 'now';
      return admitted(search, () => readSnapshot(pools.reads, wanted, (db) => searchContact(db, search)));
    },
    getEvents: (query) =>
      admitted(query, () =>
        readSnapshot(
          pools.reads,
          query.order === 'asc' ? 'all settled' : 'settled',
          (db) => getEvents(db, query),
          walkingInOrder,
        ),
      ),
    getEventDefinitions: reading(getEventDefinitions),
    countEvents: reading(countEvents),
    listRefused: (query) =>
      admitted(query, () => readSnapshot(pools.reads, 'all refused settled', (db) => listRefused(db, query))),
    countRefused: readingOnce(countRefused),

    onCommit(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async check() {
      await readingOnce((db) => db.run('SELECT 1'))(undefined);
      await room.check();
    },
    async close() {
      isClosed = true;
      await waiting.drain();
      await maintenance?.close();
      await watch.close();
      await closePools();
    },
  };
};
