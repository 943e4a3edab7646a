/**
 * Assembles the engines that execute all calls: on a thread, in memory, or in a command that runs alongside a server.
 */
import { Refusal } from '../../shared/refusal.ts';
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
import { auditedNames } from '../rules/accounts/audit.ts';
import type { ReplayedWrite, ReplayResult } from '../store.ts';
import { createAccountDeletion } from './accounts/account-deletion.ts';
import { createAccountReader } from './accounts/accounts.ts';
import { createCatalogueWriter } from './accounts/catalogues.ts';
import { createRefusedReader, createRefusedWriter } from './accounts/refused-requests.ts';
import { type Call, execute, type Reads, type Writes } from './calls.ts';
import { createClaimReader } from './contacts/claims.ts';
import { createContactFinder } from './contacts/contact-finder.ts';
import { createContactIndex } from './contacts/contact-index.ts';
import { createContactReads } from './contacts/contact-reader.ts';
import { createContactStore } from './contacts/contacts.ts';
import { createLinkWriter } from './contacts/links.ts';
import { createRequestStore } from './contacts/request-repeats.ts';
import { createUsers } from './contacts/users.ts';
import type { Connection } from './database/connection.ts';
import { createDetaching } from './erasure/detaching.ts';
import { createErasureLog } from './erasure/erasure-record.ts';
import { createErasures } from './erasure/erasures.ts';
import { createEventLogReader, createEventLogWriter } from './event-log/event-log.ts';
import { createCounter } from './events/counts.ts';
import { createDedup } from './events/dedup.ts';
import { createEventPager } from './events/event-pages.ts';
import { createEventWriter } from './events/events.ts';
import { createRecentKeys } from './events/recent-keys.ts';
import { createRollups } from './events/rollups.ts';
import { createEventFeed } from './feed/event-feed.ts';
import { createOwnerFeed } from './feed/owner-feed.ts';
import { createUserLinks } from './feed/user-links.ts';
import { createMaintenance, pauseMilliseconds } from './maintenance/maintenance.ts';
import { createUnusedSpace } from './maintenance/unused-space.ts';
import { createWriteAheadLog } from './maintenance/write-ahead-log.ts';
import { createReads } from './transactions/chunked-reads.ts';
import { createOperationRunner, type OperationRunner } from './transactions/operations.ts';
import { createSequencer } from './transactions/sequencer.ts';
import { createTransactions, type Outcome, RolledBack } from './transactions/transaction.ts';
import type { Tuning } from './tuning.ts';

/** Turns a shared operation into a function that runs it. */
const bindRunner =
  (runOperation: OperationRunner) => (operation: (request: never) => Operation<unknown>) => (request: never) =>
    runOperation(operation(request));

/** Returns a function that runs a part of a write, and returns the Refusal if it throws one. */
const createAttempt =
  (runOperation: OperationRunner) =>
  <Value>(part: Operation<Value>): Value | Refusal => {
    try {
      return runOperation(part);
    } catch (error) {
      if (error instanceof Refusal) return error;
      throw error;
    }
  };

/** Wraps the audited writes, so that they also record their entries. */
const withAudit = (runOperation: OperationRunner, writes: Writes): Writes => {
  const audited = auditedNames.map((name) => [
    name,
    (request: never) => {
      const result = writes[name](request);
      runOperation(recordWrite(name, request, result));
      return result;
    },
  ]);
  return { ...writes, ...Object.fromEntries(audited) };
};

/** Creates a write engine's parts, several of which have state in memory. */
const createParts = (db: Connection, tuning: Tuning) => {
  const { eventsPerMove, eventsPerSettling, rowsPerDetaching } = tuning;
  const sequencer = createSequencer(db);
  const users = createUsers(db);
  const rollups = createRollups(db, eventsPerMove);
  const catalogues = createCatalogueWriter(db, rollups);
  const contacts = createContactFinder(db);
  const contactStore = createContactStore(db, contacts, sequencer);
  const refused = createRefusedWriter(db, contacts);
  const detaching = createDetaching(db, refused.takeErased, rowsPerDetaching);
  const links = createLinkWriter(db, { sequencer, users, detaching });
  const log = createEventLogWriter(db, tuning);
  const recentKeys = createRecentKeys(db, sequencer, log, eventsPerSettling);
  const dedup = createDedup(db, recentKeys);
  const claims = createClaimReader(db);
  const parts = {
    ...{ sequencer, users, rollups, catalogues, contacts, contactStore, refused, detaching, links, log, recentKeys },
    ...{ dedup, claims },
  };
  return { ...parts, erasures: createErasures(db, parts) };
};

/** Creates the functions that execute the writes. */
const createWrites = (db: Connection, parts: ReturnType<typeof createParts>): Writes => {
  const { sequencer, catalogues, contactStore, links, refused, erasures } = parts;
  const runOperation = createOperationRunner(db);
  const { logEvents, checkEvents } = createEventWriter(db, parts);
  const contactParts: ContactParts = {
    ...{ contacts: contactStore, links: links.store, catalogues, requests: createRequestStore(db, parts) },
    events: { log: logEvents, readLastSequence: () => sequencer.sequence },
    attempt: createAttempt(runOperation),
    ofNewAccount: () => contactParts,
  };
  const contactOperations = mapOperations<
    Pick<Writes, ContactWrite>,
    (parts: ContactParts, request: never) => Operation<unknown>
  >(contactWrites, (operation) => (request: never) => runOperation(operation(contactParts, request)));
  const { createContact, updateContact } = contactOperations;

  const executeReplayed = (replay: ReplayedWrite): ReplayResult => {
    if (replay.write === 'createContact') return createContact(replay.request);
    if (replay.write === 'updateContact') return updateContact(replay.request);
    checkEvents(replay.request);
    return logEvents(replay.request);
  };

  return withAudit(runOperation, {
    ...mapOperations<Pick<Writes, SharedWrite>>(sharedWrites, bindRunner(runOperation)),
    ...contactOperations,
    mergeEntry: catalogues.mergeEntry,
    unmergeEntry: catalogues.unmergeEntry,
    deleteAccount: createAccountDeletion(db, parts),
    logEvents,
    eraseContact: erasures.eraseContact,
    previewImport: (preview) => {
      throw new RolledBack(runOperation(addSteps(contactParts, preview)));
    },
    undoImport: erasures.undoImport,
    deleteEventsBefore: erasures.deleteEventsBefore,
    addRefused: refused.addRefused,
    discardRefused: ({ refused: number }) => refused.discard(number),
    replayRefused: (replay) => (refused.takeReplayed(replay.refused) ? executeReplayed(replay) : undefined),
  });
};

export const createWriteEngine = (db: Connection, tuning: Tuning = {}) => {
  const dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck();
  // Read before anything else, so that all later commits by other processes are noticed.
  let lastDataVersion = dataVersion.get();
  const parts = createParts(db, tuning);
  const { sequencer, users, catalogues, recentKeys, dedup, rollups, detaching, erasures, log } = parts;
  const operations = createWrites(db, parts);

  const pending = [sequencer, users, catalogues, recentKeys, dedup, rollups, detaching, erasures, log];
  const transactions = createTransactions(db, pending, () => {
    // The state in memory may be stale if another process has committed.
    const data = dataVersion.get();
    if (data === lastDataVersion) return;
    lastDataVersion = data;
    for (const part of pending) part.forget();
  });

  const contactIndex = createContactIndex(db);
  const maintenance = createMaintenance({
    contactIndex,
    transactions,
    writeAheadLog: createWriteAheadLog(db),
    unusedSpace: createUnusedSpace(db),
    erasures,
    indexing: {
      isDue: () => recentKeys.isDue() || rollups.isDue() || log.isDue(),
      behind: log.behind,
      step() {
        if (recentKeys.isDue()) recentKeys.settle();
        // Moves rollups first, because they need few steps for many events. The log then chooses its own most urgent
        // work.
        return rollups.step() || log.step();
      },
      written: log.written,
      writtenBytes: log.writtenBytes,
    },
    forgetRepeats: (limit) => dedup.forgetOld(sequencer.day, limit),
    day: () => sequencer.day,
  });

  const { noteErasure } = maintenance;
  const erasureLog = createErasureLog(db, { erasures, transactions, noteErasure });

  return {
    /** Executes all calls in one commit. */
    write(calls: readonly Call[]): Outcome[] {
      contactIndex.noteWrite();
      if (calls.some(({ name }) => name === 'undoImport')) maintenance.noteErasure();
      const isErasure = ({ name }: Call) => name === 'eraseContact';
      const outcomes = transactions.run(
        calls.map((call) => ({
          execute: () => execute(operations, call),
          // False for logEvents, which returns an outcome for each event instead.
          mayThrowRefusal: call.name !== 'logEvents',
        })),
      );
      if (!calls.some(isErasure) || erasureLog.record()) return outcomes;
      // The contact is erased, but restoring a backup would bring it back until the erasure is recorded, which a
      // repeated request does. So the erasure must not be acknowledged yet.
      const later = { error: new Refusal('unavailable', { retryAfterSeconds: 5 }) };
      return calls.map((call, index) => (isErasure(call) ? later : (outcomes[index] as Outcome)));
    },
    eraseAgain: erasureLog.eraseAgain,
    /** Removes everything that still identifies erased contacts. */
    detachAll(): void {
      while (transactions.runAlone(erasures.detachSome));
    },
    committedMilliseconds: transactions.committedMilliseconds,
    catchUp: maintenance.catchUp,
    /** Runs a maintenance step (maintenance.ts). */
    maintain() {
      const rest = maintenance.step();
      return erasureLog.record() ? rest : Math.min(rest ?? pauseMilliseconds, pauseMilliseconds);
    },
  };
};
export type WriteEngine = ReturnType<typeof createWriteEngine>;

export const createReadEngine = (db: Connection, { eventsPerSegment }: Tuning = {}) => {
  // Shared by all reads, because it caches the newest events in memory.
  const log = createEventLogReader(db);
  const lastSequence = db.prepare<[], number>('SELECT sequence FROM position').pluck();
  const operations = {
    ...mapOperations<Pick<Reads, SharedRead>>(sharedReads, bindRunner(createOperationRunner(db))),
    ...createAccountReader(db),
    ...createContactReads(db),
    getLastSequence: () => lastSequence.get() as number,
    getEvents: createEventPager(db, { log, maxBetween: eventsPerSegment }),
    ...createCounter(db, log),
    feedEvents: createEventFeed(db, log),
    feedOwners: createOwnerFeed(db),
    listUserLinks: createUserLinks(db),
    ...createRefusedReader(db),
    check() {
      db.pragma('user_version');
    },
  } satisfies Reads;
  const read = createReads(db);
  return (call: Call): Promise<unknown> => read(() => execute(operations, call));
};
export type ReadEngine = ReturnType<typeof createReadEngine>;
