/** The PostgreSQL store: any number of servers share one database. */
import { Refusal } from '../../shared/refusal.ts';
import { createBackpressure } from '../backpressure.ts';
import type { DiskSpaceCheck } from '../disk-space.ts';
import { createCommitMeasures } from '../measures.ts';
import { addSteps } from '../operations/add-to-import.ts';
import { recordWrite } from '../operations/audit.ts';
import { type ContactWrite, contactWrites } from '../operations/contact-operations.ts';
import type { ContactParts } from '../operations/contact-store.ts';
import type { Operation } from '../operations/operation.ts';
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
  ImportOutcome,
  ImportPreview,
  NewContact,
  OnFault,
  RefusedReplay,
  ReplayedWrite,
  ReplayResult,
  RequestOf,
  Store,
} from '../store.ts';
import { StoreUnusable } from '../unusable.ts';
import { createAccessCache } from './accounts/access.ts';
import { createAccountDeletion } from './accounts/account-deletion.ts';
import { getAccount, measureAccounts } from './accounts/accounts.ts';
import { createCatalogueWriter } from './accounts/catalogues.ts';
import { countRefused, createRefusedWriter, listRefused, listRefusedBefore } from './accounts/refused-requests.ts';
import { createContactFinder } from './contacts/contact-finder.ts';
import { indexContacts } from './contacts/contact-index.ts';
import { createContactReads } from './contacts/contact-reader.ts';
import { createContactStore } from './contacts/contacts.ts';
import { createLinkStore } from './contacts/links.ts';
import { createRequestRepeats } from './contacts/request-repeats.ts';
import { createUsers } from './contacts/users.ts';
import { listUndistributed } from './database/citus.ts';
import {
  type AccountConnection,
  ConcurrentChange,
  type ConnectionPool,
  codeOf,
  hasTable,
} from './database/connection.ts';
import { createPostgresSpaceCheck } from './database/disk-space.ts';
import { getNewestMigration, migrate, readSchema } from './database/migrate.ts';
import { closePools, openPools, type Pools } from './database/pools.ts';
import { startWatch } from './database/watch.ts';
import { maintainPartitions, startPartitionJob } from './days/partitions.ts';
import { createErasures } from './erasure/erasures.ts';
import { findWork, startMaintenance } from './erasure/maintenance.ts';
import { createRetention } from './erasure/retention.ts';
import { countEvents, getEventDefinitions } from './events/counts.ts';
import { createDedup, type StoredRepeats } from './events/dedup.ts';
import { orderedEventSettings } from './events/event-order.ts';
import { createEventPager } from './events/event-pages.ts';
import { createEventWriter } from './events/events.ts';
import { feedEvents } from './feed/event-feed.ts';
import { feedOwners, trimOwnerChanges } from './feed/owner-feed.ts';
import { listUserLinks } from './feed/user-links.ts';
import { createKeyedMutex } from './transactions/keyed-mutex.ts';
import { runOperation } from './transactions/operations.ts';
import { readSettled } from './transactions/sequencer.ts';
import {
  type Moment,
  readSnapshot,
  readWithoutSnapshot,
  type Snapshot,
  type Transaction,
  withConnection,
  write,
} from './transactions/transaction.ts';
import { createWriteQueue } from './transactions/write-queue.ts';

/** The account number that stands for the service itself, or for several accounts. */
const serviceAccount = 0;

interface Opening {
  readonly role: 'server' | 'command';
  readonly create: boolean;
  readonly onFault?: OnFault | undefined;
}

interface Prepared extends StoredRepeats {
  /** Whether the tables are distributed over a Citus cluster. */
  readonly isDistributed: boolean;
}

/** Migrates the database, and checks that a server can use it. */
const prepare = async (pool: ConnectionPool, { role, create }: Opening): Promise<Prepared> => {
  const db = await pool.take();
  try {
    const schema = await readSchema(db);
    if (schema === 0 && role === 'command' && !create) {
      throw new StoreUnusable(
        'this database has no Firsthand tables: run firsthand serve or firsthand account create to create them',
      );
    }
    if (schema > 0 && schema < getNewestMigration() && role === 'command') {
      throw new StoreUnusable('this database has an older schema: start a server with this version of Firsthand first');
    }
    await migrate(db);
    const undistributed = db.isDistributed ? await listUndistributed(db) : [];
    if (undistributed.length > 0) {
      throw new StoreUnusable(
        `tables not distributed over the cluster: ${undistributed.join(', ')}; run firsthand migrate --citus`,
      );
    }
    if (await hasTable(db, 'copying')) {
      throw new StoreUnusable('a copy into this database is not complete: run firsthand copy again to resume it');
    }
    const repeats = await db.one<StoredRepeats>(
      `SELECT secret, EXISTS (SELECT FROM erased_repeat) AS "withErased",
         EXISTS (SELECT FROM kept_day WHERE "ofEither") AS "withEither" FROM position`,
    );
    return { ...repeats, isDistributed: db.isDistributed };
  } finally {
    db.release(false);
  }
};

/** The writes of contacts. */
type ContactWrites = {
  readonly [Name in ContactWrite]: (
    db: Transaction,
    request: RequestOf<Name>,
  ) => Promise<Awaited<ReturnType<Store[Name]>>>;
};

const readLastSequence = async (db: Transaction): Promise<number> =>
  (await db.one<{ last: number }>('SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM event_order'))
    .last;

/** Returns a Refusal; rethrows any other error. */
const toRefusal = (error: unknown): Refusal => {
  if (error instanceof Refusal) return error;
  throw error;
};

/** Creates the store's writes; each takes its transaction as a parameter. */
const createWrites = (stored: StoredRepeats) => {
  const finder = createContactFinder(stored.secret);
  const dedup = createDedup(stored);
  const repeats = createRequestRepeats(stored.secret, finder);
  const users = createUsers();
  const catalogues = createCatalogueWriter();
  const refused = createRefusedWriter(finder);
  const storeEvents = createEventWriter({ users, catalogues, finder, dedup });
  const partsOf = (db: Transaction): ContactParts => ({
    contacts: createContactStore(db, finder),
    links: createLinkStore(db, users),
    catalogues: {
      check: (account, browser, uses) => catalogues.check(db, account, { browser, uses }),
      register: (account, browser, uses) => catalogues.register(db, account, [{ browser, uses }]),
      put: (account, entries) => catalogues.put(db, account, entries),
    },
    requests: repeats.forTransaction(db),
    events: {
      log: async (batch) => (await storeEvents(db, [batch]))[0] ?? [],
      readLastSequence: () => readLastSequence(db),
    },
    attempt: (part) => db.attempt(() => runOperation(db, part)).catch(toRefusal),
    async ofNewAccount(account) {
      // begin_writing could not call be_durable, because the account had no number yet.
      if (db.isDistributed)
        await db.run('SELECT be_durable(), count(*) FROM account_position WHERE account = $1', [account]);
      return partsOf({ ...db, account });
    },
  });
  const contactOperations = mapOperations<ContactWrites, (parts: ContactParts, request: never) => Operation<unknown>>(
    contactWrites,
    (operation) => (db: Transaction, request: never) => runOperation(db, operation(partsOf(db), request)),
  );
  const { createContact, updateContact } = contactOperations;
  const erasures = createErasures({ finder, repeats, refused, users, dedup });

  /** Stores all of the events, or throws the first Refusal. */
  const replayEvents = async (db: Transaction, batch: EventBatch): Promise<EventOutcome[]> => {
    const [outcomes = []] = await storeEvents(db, [batch]);
    for (const outcome of outcomes) {
      if ('refused' in outcome) throw new Refusal(outcome.refused, { field: outcome.field, message: outcome.message });
    }
    return outcomes;
  };

  const runReplay = (db: Transaction, replay: ReplayedWrite): Promise<ReplayResult> => {
    if (replay.write === 'createContact') return createContact(db, replay.request);
    if (replay.write === 'updateContact') return updateContact(db, replay.request);
    return replayEvents(db, replay.request);
  };

  return {
    finder,
    storeEvents,
    ...contactOperations,
    mergeEntry: catalogues.mergeEntry,
    unmergeEntry: catalogues.unmergeEntry,
    ...erasures,
    deleteAccount: createAccountDeletion(erasures),
    async previewImport(db: Transaction, preview: ImportPreview): Promise<ImportOutcome[]> {
      let outcomes: ImportOutcome[] = [];
      const rollback = new Refusal('invalid_field');
      const run = async () => {
        outcomes = await runOperation(db, addSteps(partsOf(db), preview));
        throw rollback;
      };
      await db.attempt(run).catch((error) => {
        if (error !== rollback) throw error;
      });
      return outcomes;
    },
    addRefused: refused.addRefused,
    async discardRefused(db: Transaction, request: { readonly refused: number }): Promise<boolean> {
      const listed = await refused.find(db, request.refused);
      return listed !== undefined && refused.discard(db, listed);
    },
    async replayRefused(db: Transaction, replay: RefusedReplay): Promise<ReplayResult | undefined> {
      const listed = await refused.find(db, replay.refused);
      if (!listed) return undefined;
      const answer = await runReplay(db, replay);
      // Refused requests come late in the lock order of row-locks.ts, so that a replay and an erasure do not deadlock.
      if (!(await refused.takeReplayed(db, listed))) throw new ConcurrentChange();
      return answer;
    },
  };
};

/** Writes after which this server must drop its cached tokens. */
const accessWrites: ReadonlySet<string> = new Set<SharedWrite>([
  'createToken',
  'revokeToken',
  'inviteMember',
  'joinMember',
  'updateMember',
  'removeMember',
  'changePassword',
]);

/** Returns a request's account. Some requests are just an account's number. */
const accountOf = (request: unknown): number => {
  if (typeof request === 'number') return request;
  const { account, request: replayed } = (request ?? {}) as { account?: number | null; request?: unknown };
  return replayed === undefined ? (account ?? serviceAccount) : accountOf(replayed);
};

/** Opens a database's pools. Throws StoreUnusable if a server cannot use the database. */
const openPrepared = async (databaseURL: string, opening: Opening): Promise<{ pools: Pools; prepared: Prepared }> => {
  const pools = openPools(databaseURL);
  try {
    return { pools, prepared: await prepare(pools.writes, opening) };
  } catch (error) {
    await closePools(pools);
    if (error instanceof StoreUnusable) throw error;
    // The message omits the URL, which may contain a password.
    const problem = 'the PostgreSQL database of DATABASE_URL cannot be served';
    throw new StoreUnusable(`${problem}: ${codeOf(error)} ${(error as Error).message}`, { cause: error });
  }
};

/** Creates the queue that stores batches of events, and its commit metrics. */
const createEventQueue = (
  pools: Pools,
  storeEvents: ReturnType<typeof createWrites>['storeEvents'],
  isDistributed: boolean,
) => {
  const commits = createCommitMeasures();
  const storeBatches = (batches: readonly EventBatch[]) => {
    const accounts = [...new Set(batches.map(({ account }) => account))];
    return write(pools.events, 'shared', accounts, (db) => storeEvents(db, batches), {
      onCommit: commits.statementSeconds.add,
    });
  };
  const measure = (events: number, seconds: number) => {
    commits.events.add(events);
    commits.seconds.add(seconds);
  };
  return { queue: createWriteQueue(storeBatches, { measure, isDistributed }), commits };
};

/** Starts a server's background jobs. */
const startJobs = (
  pools: Pools,
  continueErasures: (db: Transaction) => Promise<boolean>,
  onFault: OnFault | undefined,
) => {
  const maintenance = startMaintenance({
    find: () => readWithoutSnapshot(pools.quick, serviceAccount, findWork),
    inTransaction: (account, step) => write(pools.writes, 'shared', account, step),
    async step(db) {
      if ((await continueErasures(db)) || (await indexContacts(db))) return true;
      await trimOwnerChanges(db);
      return false;
    },
  });
  const stopPartitionJob = startPartitionJob(
    () => withConnection(pools.writes, (db) => maintainPartitions(db, Date.now())),
    onFault,
  );
  return { maintenance, stop: () => Promise.all([maintenance.close(), stopPartitionJob()]) };
};

interface RunnerParts {
  readonly pools: Pools;
  /** Runs work while the store is open. */
  readonly admit: <Value>(request: unknown, work: () => Promise<Value>) => Promise<Value>;
  readonly notifyListeners: () => void;
  readonly forgetAccess: () => void;
}

type Work<Request, Value> = (db: Transaction, request: Request) => Promise<Value>;

/** Creates functions that wrap transactional work as store operations. */
const createRunners = ({ pools, admit, notifyListeners, forgetAccess }: RunnerParts) => {
  const runInOrder = createKeyedMutex();
  /** Writes that share a key from `keysOf` run one after the other (keyed-mutex.ts). */
  const createWrite =
    (mode: 'shared' | 'exclusive') =>
    <Request, Value>(work: Work<Request, Value>, keysOf: (request: Request) => readonly string[] = () => []) =>
    (request: Request): Promise<Value> =>
      admit(request, async () => {
        const run = () => write(pools.writes, mode, accountOf(request), (db) => work(db, request));
        const value = await keysOf(request).reduceRight((next, key) => () => runInOrder(key, next), run)();
        notifyListeners();
        return value;
      });
  const sharedWrite = createWrite('shared');
  /** Creates a write that changes what all of the account's other writes depend on. */
  const exclusiveWrite = createWrite('exclusive');
  const auditedWrite = <Request, Value>(name: AuditedName, how: typeof sharedWrite, work: Work<Request, Value>) =>
    how(async (db: Transaction, request: Request) => {
      const value = await work(db, request);
      await runOperation(db, recordWrite(name, request, value));
      return value;
    });
  const createRead =
    <Request, Value>(
      work: (db: Snapshot, request: Request) => Promise<Value>,
      momentOf: (request: Request) => Moment = () => 'now',
      settings?: readonly string[],
    ) =>
    (request: Request): Promise<Value> =>
      admit(request, () =>
        readSnapshot(pools.reads, momentOf(request), accountOf(request), (db) => work(db, request), settings),
      );
  const createSimpleRead =
    <Request, Value>(work: (db: AccountConnection, request: Request) => Promise<Value>) =>
    (request: Request): Promise<Value> =>
      admit(request, () => readWithoutSnapshot(pools.quick, accountOf(request), (db) => work(db, request)));
  /** Wraps a write that changes tokens, so that this server applies the change before the write's promise resolves. */
  const invalidateAccessAfter =
    <Request, Value>(work: (request: Request) => Promise<Value>) =>
    async (request: Request): Promise<Value> => {
      const value = await work(request);
      forgetAccess();
      return value;
    };

  const sharedStore = {
    ...mapOperations<Pick<Store, SharedRead>>(sharedReads, (operation) =>
      createSimpleRead((db, request: never) => runOperation(db, operation(request))),
    ),
    ...mapOperations<Pick<Store, SharedWrite>>(sharedWrites, (operation, name) => {
      const work = (db: Transaction, request: never) => runOperation(db, operation(request));
      const write = isAudited(name) ? auditedWrite(name, sharedWrite, work as never) : sharedWrite(work);
      return accessWrites.has(name) ? invalidateAccessAfter(write) : write;
    }),
  };

  return {
    sharedWrite,
    exclusiveWrite,
    auditedWrite,
    createRead,
    createSimpleRead,
    invalidateAccessAfter,
    sharedStore,
  };
};

/** Returns the keys by which createContact requests are serialized (keyed-mutex.ts). */
const contendedKeysOf = ({ account, userUUID, externalID, address }: NewContact): string[] => [
  ...(userUUID === null ? [] : [`user ${account} ${userUUID}`]),
  ...(address === undefined ? [] : [`address ${account} ${address}`]),
  ...(externalID === undefined ? [] : [`external ID ${account} ${externalID}`]),
];

/** Admits requests until the store is closed. */
const createAdmission = (room: DiskSpaceCheck) => {
  const backlog = createBackpressure();
  let isClosed = false;
  return {
    /** Runs work while the store is open. Throws Refusal('unavailable') if the backlog is full. */
    async admit<Value>(request: unknown, work: () => Promise<Value>): Promise<Value> {
      if (isClosed) throw new Error('the store is closed');
      const bytes = backlog.enter(request);
      try {
        return await work();
      } catch (error) {
        room.noteFailure(error);
        throw error;
      } finally {
        backlog.leave(bytes);
      }
    },
    measure: backlog.measure,
    /** Stops admitting requests. Resolves when all admitted requests have ended. */
    close(): Promise<unknown> {
      isClosed = true;
      return backlog.drain();
    },
  };
};

/** Opens a PostgreSQL database. Throws StoreUnusable if it cannot be used. */
export const openPostgres = async (databaseURL: string, opening: Opening): Promise<Store> => {
  const { pools, prepared } = await openPrepared(databaseURL, opening);
  const room = createPostgresSpaceCheck(pools.quick);
  const admission = createAdmission(room);
  const { admit } = admission;
  const access = createAccessCache((work) => readWithoutSnapshot(pools.quick, serviceAccount, work));
  const listeners = new Set<() => void>();
  const notifyListeners = () => {
    for (const listener of listeners) listener();
  };
  const watch = startWatch(databaseURL, access, notifyListeners);
  const { finder, storeEvents, continueErasures, ...writes } = createWrites(prepared);
  const { queue, commits } = createEventQueue(pools, storeEvents, prepared.isDistributed);
  const runners = createRunners({ pools, admit, notifyListeners, forgetAccess: access.forget });
  const { sharedWrite, exclusiveWrite, auditedWrite, createRead, createSimpleRead, invalidateAccessAfter } = runners;

  const jobs = opening.role === 'server' ? startJobs(pools, continueErasures, opening.onFault) : undefined;
  if (jobs) listeners.add(jobs.maintenance.noteWrite);
  const { getContact, searchContact, feedContacts, namePeople } = createContactReads(finder);
  const getEvents = createEventPager(finder);
  const erase = auditedWrite('eraseContact', sharedWrite, writes.eraseContact);
  const undo = auditedWrite('undoImport', exclusiveWrite, writes.undoImport);

  return {
    ...runners.sharedStore,
    createAccount: invalidateAccessAfter(auditedWrite('createAccount', sharedWrite, writes.createAccount)),
    updateAccount: invalidateAccessAfter(auditedWrite('updateAccount', sharedWrite, writes.updateAccount)),
    mergeEntry: auditedWrite('mergeEntry', sharedWrite, writes.mergeEntry),
    unmergeEntry: auditedWrite('unmergeEntry', sharedWrite, writes.unmergeEntry),
    deleteAccount: invalidateAccessAfter(auditedWrite('deleteAccount', sharedWrite, writes.deleteAccount)),
    createContact: sharedWrite(writes.createContact, contendedKeysOf),
    updateContact: sharedWrite(writes.updateContact),
    linkUser: auditedWrite('linkUser', sharedWrite, writes.linkUser),
    unlinkUser: auditedWrite('unlinkUser', sharedWrite, writes.unlinkUser),
    voidLinks: auditedWrite('voidLinks', sharedWrite, writes.voidLinks),
    acceptClaim: auditedWrite('acceptClaim', sharedWrite, writes.acceptClaim),
    voidClaim: auditedWrite('voidClaim', sharedWrite, writes.voidClaim),
    addRefused: sharedWrite(writes.addRefused),
    discardRefused: auditedWrite('discardRefused', sharedWrite, writes.discardRefused),
    replayRefused: auditedWrite('replayRefused', sharedWrite, writes.replayRefused),
    mergeContact: auditedWrite('mergeContact', exclusiveWrite, writes.mergeContact),
    unmergeContact: auditedWrite('unmergeContact', exclusiveWrite, writes.unmergeContact),
    deleteEventsBefore: createRetention({
      listAccounts: async () => (await runners.sharedStore.listAccounts()).map(({ account }) => account),
      listRefusedBefore: (time) => createSimpleRead((db) => listRefusedBefore(db, time))(undefined),
      deleteOf: sharedWrite(writes.deleteEventsBefore),
    }),
    addToImport: exclusiveWrite(writes.addToImport),
    changeAudience: sharedWrite(writes.changeAudience),
    noticeRefusals: sharedWrite(writes.noticeRefusals),
    noticeQuota: sharedWrite(writes.noticeQuota),
    previewImport: exclusiveWrite(writes.previewImport),
    async undoImport(request) {
      const undone = await undo(request);
      if (undone.state === 'undoing') jobs?.maintenance.wake();
      return undone;
    },
    async eraseContact(request) {
      const receipt = await erase(request);
      if (!receipt.complete) jobs?.maintenance.wake();
      return receipt;
    },
    logEvents: (batch) =>
      admit(batch, async () => {
        const outcomes = await queue(batch);
        notifyListeners();
        return outcomes;
      }),

    findAccess: (tokenHash, time = Date.now()) => admit(tokenHash, () => access.findAccess(tokenHash, time)),
    wasTokenCreated: (tokenHash) => admit(tokenHash, () => access.wasTokenCreated(tokenHash)),
    getAccount: createRead(getAccount),
    measureAccounts: () => createRead(measureAccounts)(undefined),
    getContact: createRead(getContact),
    searchContact: createRead(searchContact, ({ externalID, address }) =>
      externalID === undefined && address === undefined ? 'all contacts settled' : 'now',
    ),
    getLastSequence: createSimpleRead(async (db, { account }) => (await readSettled(db, account)).settled),
    getEvents: createRead(
      getEvents,
      ({ order }) => (order === 'asc' ? 'all settled' : 'settled'),
      orderedEventSettings,
    ),
    getEventDefinitions: createRead(getEventDefinitions),
    countEvents: createRead(countEvents),
    feedEvents: createRead(feedEvents, () => 'all settled', orderedEventSettings),
    feedOwners: createRead(feedOwners, () => 'all owners settled'),
    feedContacts: createRead(feedContacts),
    namePeople: createRead(namePeople),
    listUserLinks: createRead(listUserLinks),
    listRefused: createRead(listRefused, () => 'all refused settled'),
    countRefused: createSimpleRead(countRefused),

    onCommit(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async check() {
      await createSimpleRead((db) => db.run('SELECT 1'))(undefined);
      await room.check();
    },
    async measure() {
      const { bytes } = await createSimpleRead((db) =>
        db.one<{ bytes: string }>('SELECT pg_database_size(current_database()) AS bytes'),
      )(undefined);
      return { ...admission.measure(), storedBytes: Number(bytes), commits };
    },
    async close() {
      await admission.close();
      await jobs?.stop();
      await watch.close();
      await closePools(pools);
    },
  };
};
