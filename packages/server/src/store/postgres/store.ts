/** The store on PostgreSQL: any number of servers over one database. */
import { Refusal } from '../../shared/refusal.ts';
import { createBackpressure } from '../backpressure.ts';
import { createCommitMeasures } from '../measures.ts';
import {
  mapOperations,
  type SharedRead,
  type SharedWrite,
  sharedReads,
  sharedWrites,
} from '../operations/operations.ts';
import { type AuditedName, isAudited } from '../rules/accounts/audit.ts';
import type {
  EventBatch,
  EventOutcome,
  OnFault,
  RefusedReplay,
  ReplayedAnswer,
  ReplayedWrite,
  Store,
} from '../store.ts';
import { StoreUnusable } from '../unusable.ts';
import { createAccess } from './accounts/access.ts';
import { createAccountDeletion } from './accounts/account-deletion.ts';
import {
  createAccountWriter,
  findAccount,
  getAccount,
  listAccounts,
  listNumbers,
  measureAccounts,
} from './accounts/accounts.ts';
import { listAudit, recordAudit, recording } from './accounts/audit.ts';
import { createCatalogueWriter, listCatalogue } from './accounts/catalogues.ts';
import { deleteEnded } from './accounts/ended-sessions.ts';
import { countRefused, createRefusedWriter, listRefused, listRefusedBefore } from './accounts/refused-requests.ts';
import { createAccountContacts } from './contacts/account-contacts.ts';
import { createContactReader } from './contacts/contact-details.ts';
import { createContactFinder } from './contacts/contact-finder.ts';
import { indexContacts } from './contacts/contact-index.ts';
import { createContactWriter } from './contacts/contacts.ts';
import { createContactCreator } from './contacts/create-contact.ts';
import { createLinkWriter } from './contacts/links.ts';
import { createMergeWriter } from './contacts/merges.ts';
import { createPutContact } from './contacts/put-contact.ts';
import { createRequestRepeats } from './contacts/request-repeats.ts';
import { createUsers } from './contacts/users.ts';
import { listUnspread } from './database/citus.ts';
import { type AccountConnection, type ConnectionPool, codeOf, hasTable, Overtaken } from './database/connection.ts';
import { createPostgresRoom } from './database/disk-space.ts';
import { migrate, newestMigration, readSchema } from './database/migrate.ts';
import { closePools, openPools } from './database/pools.ts';
import { startWatch } from './database/watch.ts';
import { keepTending, tendDays } from './days/partitions.ts';
import { createErasures } from './erasure/erasures.ts';
import { findWork, startMaintenance } from './erasure/maintenance.ts';
import { createRetention } from './erasure/retention.ts';
import { countEvents, getEventDefinitions } from './events/counts.ts';
import { createDedup, type StoredRepeats } from './events/dedup.ts';
import { walkingInOrder } from './events/event-order.ts';
import { createEventPager } from './events/event-pages.ts';
import { createEventWriter } from './events/events.ts';
import { feedContacts } from './feed/contact-feed.ts';
import { feedEvents } from './feed/event-feed.ts';
import { feedOwners, trimOwnerChanges } from './feed/owner-feed.ts';
import { namePeople } from './feed/people-names.ts';
import { runOperation } from './transactions/operations.ts';
import {
  type Moment,
  readOnce,
  readSnapshot,
  type Snapshot,
  type Transaction,
  withConnection,
  write,
} from './transactions/transaction.ts';
import { createTurns } from './transactions/turns.ts';
import { createWriteQueue } from './transactions/write-queue.ts';

/** The account of what concerns the service itself, or several accounts. */
const ofService = 0;

interface Opening {
  readonly role: 'server' | 'beside';
  readonly create: boolean;
  readonly onFault?: OnFault | undefined;
}

interface Prepared extends StoredRepeats {
  /** Whether the tables are spread over a Citus cluster. */
  readonly isSpread: boolean;
}

/** Migrates the database, and checks that it can be served. */
const prepare = async (pool: ConnectionPool, { role, create }: Opening): Promise<Prepared> => {
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
    const unspread = db.isSpread ? await listUnspread(db) : [];
    if (unspread.length > 0) {
      throw new StoreUnusable(
        `not spread over the cluster yet: ${unspread.join(', ')}; firsthand migrate --citus spreads them`,
      );
    }
    if (await hasTable(db, 'copying')) {
      throw new StoreUnusable('a copy into this database is not complete: firsthand copy goes on with it');
    }
    const repeats = await db.one<StoredRepeats>(
      `SELECT secret, EXISTS (SELECT FROM erased_repeat) AS "withErased",
         EXISTS (SELECT FROM kept_day WHERE "ofEither") AS "withEither" FROM position`,
    );
    return { ...repeats, isSpread: db.isSpread };
  } finally {
    db.release(false);
  }
};

/** Creates the writes of the store; each takes its transaction as a parameter. */
const createWrites = (stored: StoredRepeats) => {
  const finder = createContactFinder(stored.secret);
  const dedup = createDedup(stored);
  const repeats = createRequestRepeats(stored.secret);
  const users = createUsers();
  const catalogues = createCatalogueWriter();
  const contacts = createContactWriter(finder, catalogues);
  const putContact = createPutContact(finder, contacts);
  const refused = createRefusedWriter(finder);
  const keepEvents = createEventWriter({ users, catalogues, finder, dedup });
  const createContact = createContactCreator({ users, catalogues, finder, putContact, repeats });
  const { updateContact } = contacts;
  const erasures = createErasures({ finder, repeats, refused });

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
    ...createAccountWriter(catalogues, createAccountContacts({ catalogues, finder, contacts, putContact })),
    mergeEntry: catalogues.mergeEntry,
    unmergeEntry: catalogues.unmergeEntry,
    ...createLinkWriter(users, finder, contacts),
    ...createMergeWriter(finder),
    ...erasures,
    deleteAccount: createAccountDeletion(erasures),
    createContact,
    updateContact,
    keepRefused: refused.keepRefused,
    async discardRefused(db: Transaction, request: { readonly refused: number }): Promise<boolean> {
      const listed = await refused.find(db, request.refused);
      return listed !== undefined && refused.discard(db, listed);
    },
    async replayRefused(db: Transaction, replay: RefusedReplay): Promise<ReplayedAnswer | undefined> {
      const listed = await refused.find(db, replay.refused);
      if (!listed) return undefined;
      const answer = await carryOut(db, replay);
      // Refused requests come late in the order of held-rows.ts, so that this and an erasure do not wait for each other.
      if (!(await refused.takeReplayed(db, listed))) throw new Overtaken();
      return answer;
    },
  };
};

/** Writes after which this server must not use what it has cached of tokens. */
const changeAccess: ReadonlySet<string> = new Set<SharedWrite>([
  'createToken',
  'revokeToken',
  'inviteMember',
  'joinMember',
  'updateMember',
  'removeMember',
  'changePassword',
]);

/** Returns the account of a request, which may be its number. */
const accountOf = (request: unknown): number => {
  if (typeof request === 'number') return request;
  const { account, request: replayed } = (request ?? {}) as { account?: number | null; request?: unknown };
  return replayed === undefined ? (account ?? ofService) : accountOf(replayed);
};

/** Opens a PostgreSQL database. Throws StoreUnusable when it cannot be served. */
export const openPostgres = async (databaseURL: string, { role, create, onFault }: Opening): Promise<Store> => {
  const pools = openPools(databaseURL);
  const prepared = await prepare(pools.writes, { role, create }).catch(async (error: unknown) => {
    await closePools(pools);
    if (error instanceof StoreUnusable) throw error;
    // Without the URL, which may contain a password.
    const what = 'the PostgreSQL database that DATABASE_URL names cannot be served';
    throw new StoreUnusable(`${what}: ${codeOf(error)} ${(error as Error).message}`, { cause: error });
  });

  const waiting = createBackpressure();
  const room = createPostgresRoom(pools.quick);
  let isClosed = false;

  /** Runs work while the store is open. Throws Refusal('unavailable') when too much waits already. */
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

  const access = createAccess((work) => readOnce(pools.quick, ofService, work));
  const listeners = new Set<() => void>();
  const committed = () => {
    for (const listener of listeners) listener();
  };
  const watch = startWatch(databaseURL, access, committed);
  const { finder, keepEvents, continueErasures, ...writes } = createWrites(prepared);

  const commits = createCommitMeasures();
  const keep = (batches: readonly EventBatch[]) => {
    const accounts = [...new Set(batches.map(({ account }) => account))];
    return write(pools.events, 'beside others', accounts, (db) => keepEvents(db, batches), {
      onCommit: commits.statementSeconds.add,
    });
  };
  const measure = (events: number, seconds: number) => {
    commits.events.add(events);
    commits.seconds.add(seconds);
  };
  const queue = createWriteQueue(keep, { measure, isSpread: prepared.isSpread });

  const inTurn = createTurns();
  type Work<Request, Value> = (db: Transaction, request: Request) => Promise<Value>;
  /** `turns` returns the keys of the queues in which the write waits for its turn (turns.ts). */
  const writing =
    (mode: 'beside others' | 'alone') =>
    <Request, Value>(work: Work<Request, Value>, turns: (request: Request) => readonly string[] = () => []) =>
    (request: Request): Promise<Value> =>
      admitted(request, async () => {
        const carryOut = () => write(pools.writes, mode, accountOf(request), (db) => work(db, request));
        const value = await turns(request).reduceRight((next, key) => () => inTurn(key, next), carryOut)();
        committed();
        return value;
      });
  const besideOthers = writing('beside others');
  /** For writes that change what all others depend on. */
  const byItself = writing('alone');
  const audited = <Request, Value>(name: AuditedName, how: typeof besideOthers, work: Work<Request, Value>) =>
    how(recording(name, work));
  const reading =
    <Request, Value>(
      work: (db: Snapshot, request: Request) => Promise<Value>,
      momentOf: (request: Request) => Moment = () => 'now',
      settings?: readonly string[],
    ) =>
    (request: Request): Promise<Value> =>
      admitted(request, () =>
        readSnapshot(pools.reads, momentOf(request), accountOf(request), (db) => work(db, request), settings),
      );
  const readingOnce =
    <Request, Value>(work: (db: AccountConnection, request: Request) => Promise<Value>) =>
    (request: Request): Promise<Value> =>
      admitted(request, () => readOnce(pools.quick, accountOf(request), (db) => work(db, request)));
  /** Wraps a write that changes tokens, so that this server uses the change before the write's promise resolves. */
  const changingAccess =
    <Request, Value>(work: (request: Request) => Promise<Value>) =>
    async (request: Request): Promise<Value> => {
      const value = await work(request);
      access.forget();
      return value;
    };

  const sharedStore = {
    ...mapOperations<Pick<Store, SharedRead>>(sharedReads, (operation) =>
      readingOnce((db, request: never) => runOperation(db, operation(request))),
    ),
    ...mapOperations<Pick<Store, SharedWrite>>(sharedWrites, (operation, name) => {
      const work = (db: Transaction, request: never) => runOperation(db, operation(request));
      const write = isAudited(name) ? audited(name, besideOthers, work as never) : besideOthers(work);
      return changeAccess.has(name) ? changingAccess(write) : write;
    }),
  };

  const maintenance =
    role === 'server'
      ? startMaintenance({
          find: () => readOnce(pools.quick, ofService, findWork),
          inTransaction: (account, step) => write(pools.writes, 'beside others', account, step),
          async step(db) {
            if ((await continueErasures(db)) || (await indexContacts(db))) return true;
            await trimOwnerChanges(db);
            return false;
          },
        })
      : undefined;
  if (maintenance) listeners.add(maintenance.noteWrite);
  const endTending =
    role === 'server'
      ? keepTending(() => withConnection(pools.writes, (db) => tendDays(db, Date.now())), onFault)
      : undefined;
  const { getContact, searchContact } = createContactReader(finder);
  const getEvents = createEventPager(finder);
  const erase = audited('eraseContact', besideOthers, writes.eraseContact);

  return {
    ...sharedStore,
    createAccount: changingAccess(audited('createAccount', besideOthers, writes.createAccount)),
    updateAccount: changingAccess(audited('updateAccount', besideOthers, writes.updateAccount)),
    mergeEntry: audited('mergeEntry', besideOthers, writes.mergeEntry),
    unmergeEntry: audited('unmergeEntry', besideOthers, writes.unmergeEntry),
    deleteAccount: changingAccess(audited('deleteAccount', besideOthers, writes.deleteAccount)),
    deleteEnded: besideOthers(deleteEnded),
    recordAudit: besideOthers(recordAudit),
    createContact: besideOthers(writes.createContact, ({ account, userUUID, externalID, address }) => [
      ...(userUUID === null ? [] : [`user ${account} ${userUUID}`]),
      ...(address === undefined ? [] : [`address ${account} ${address}`]),
      ...(externalID === undefined ? [] : [`external ID ${account} ${externalID}`]),
    ]),
    updateContact: besideOthers(writes.updateContact),
    linkUser: audited('linkUser', besideOthers, writes.linkUser),
    unlinkUser: audited('unlinkUser', besideOthers, writes.unlinkUser),
    voidLinks: audited('voidLinks', besideOthers, writes.voidLinks),
    acceptClaim: audited('acceptClaim', besideOthers, writes.acceptClaim),
    voidClaim: audited('voidClaim', besideOthers, writes.voidClaim),
    keepRefused: besideOthers(writes.keepRefused),
    discardRefused: audited('discardRefused', besideOthers, writes.discardRefused),
    replayRefused: audited('replayRefused', besideOthers, writes.replayRefused),
    mergeContact: audited('mergeContact', byItself, writes.mergeContact),
    unmergeContact: audited('unmergeContact', byItself, writes.unmergeContact),
    deleteEventsBefore: createRetention({
      listAccounts: () => readingOnce(listNumbers)(undefined),
      listRefusedBefore: (time) => readingOnce((db) => listRefusedBefore(db, time))(undefined),
      deleteOf: besideOthers(writes.deleteEventsBefore),
    }),
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
    listAudit: readingOnce(listAudit),
    listAccounts: () => readingOnce(listAccounts)(undefined),
    getAccount: reading(getAccount),
    listCatalogue: readingOnce((db, { account, kind }) => listCatalogue(db, account, kind)),
    measureAccounts: () => reading(measureAccounts)(undefined),
    getContact: reading(getContact),
    searchContact: reading(searchContact, ({ externalID, address }) =>
      externalID === undefined && address === undefined ? 'all contacts settled' : 'now',
    ),
    getEvents: reading(getEvents, ({ order }) => (order === 'asc' ? 'all settled' : 'settled'), walkingInOrder),
    getEventDefinitions: reading(getEventDefinitions),
    countEvents: reading(countEvents),
    feedEvents: reading(feedEvents, () => 'all settled', walkingInOrder),
    feedOwners: reading(feedOwners, () => 'all owners settled'),
    feedContacts: reading(feedContacts),
    namePeople: reading(namePeople),
    listRefused: reading(listRefused, () => 'all refused settled'),
    countRefused: readingOnce(countRefused),

    onCommit(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async check() {
      await readingOnce((db) => db.run('SELECT 1'))(undefined);
      await room.check();
    },
    async measure() {
      const { bytes } = await readingOnce((db) =>
        db.one<{ bytes: string }>('SELECT pg_database_size(current_database()) AS bytes'),
      )(undefined);
      return { ...waiting.measure(), storedBytes: Number(bytes), commits };
    },
    async close() {
      isClosed = true;
      await waiting.drain();
      await Promise.all([maintenance?.close(), endTending?.()]);
      await watch.close();
      await closePools(pools);
    },
  };
};
