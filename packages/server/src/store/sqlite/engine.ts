/** Puts together what answers every call: the same on a thread of its own, in memory, and beside a running server. */
import { Refusal } from '../../refusal.ts';
import { usesOfContact } from '../catalogue-rules.ts';
import type { ContactChange, ReplayedAnswer, ReplayedWrite } from '../store.ts';
import { createAccountReader, createAccountWriter } from './accounts.ts';
import type { Arrangement } from './arrangement.ts';
import { createAuditReader, createAuditWriter } from './audit.ts';
import { type Call, carryOut, type Reads } from './calls.ts';
import { createCatalogueWriter } from './catalogues.ts';
import { createClaimWriter } from './claims.ts';
import { type Connection, isNotNow } from './connection.ts';
import { createContactReader } from './contact-details.ts';
import { createContactWriter } from './contacts.ts';
import { createCounter } from './counts.ts';
import { createContactCreator } from './create-contact.ts';
import { createDetaching } from './detaching.ts';
import { createErasureRecord, type Erased } from './erasure-record.ts';
import { createErasures } from './erasures.ts';
import { createBlockWriter } from './event-blocks.ts';
import { createEventFinder } from './event-finder.ts';
import { createEventPager } from './event-pages.ts';
import { createEventWriter } from './events.ts';
import { createIndexing } from './indexing.ts';
import { createLinkWriter } from './links.ts';
import { createMergeWriter } from './merges.ts';
import { createPacking } from './packing.ts';
import { createPosition } from './position.ts';
import { createRecentRepeats } from './recent-repeats.ts';
import { createRefusedReader, createRefusedWriter } from './refused-requests.ts';
import { createRepeats } from './repeats.ts';
import { createReads } from './steps.ts';
import { createSurplusClaims } from './surplus-claims.ts';
import { createTidying, pauseMilliseconds } from './tidying.ts';
import { createTokenReader, createTokenWriter } from './tokens.ts';
import { createTotals } from './totals.ts';
import { createTransactions, type Outcome } from './transaction.ts';
import { createUnknownProxyWriter } from './unknown-proxy.ts';
import { createUnusedSpace } from './unused-space.ts';
import { createUsers } from './users.ts';
import { createWriteAheadLog } from './write-ahead-log.ts';

export const createWriteEngine = (
  db: Connection,
  {
    eventsPerBlock,
    eventsPerPacking,
    eventsPerMove,
    eventsPerSettling,
    eventsPerSegment,
    rowsPerDetaching,
  }: Arrangement = {},
) => {
  const dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck();
  // Asked before anything is read, so that what is committed meanwhile is noticed.
  let seenData = dataVersion.get();
  const position = createPosition(db);
  const users = createUsers(db);
  const catalogues = createCatalogueWriter(db);
  const totals = createTotals(db, eventsPerMove);
  const contacts = createContactWriter(db);
  const claims = createClaimWriter(db);
  const detaching = createDetaching(db, rowsPerDetaching);
  const surplus = createSurplusClaims(db, detaching);
  const links = createLinkWriter(db, { position, users, contacts, claims, surplus, detaching });
  const refused = createRefusedWriter(db, contacts);
  const blocks = createBlockWriter(db, eventsPerBlock);
  const latest = createRecentRepeats(db, position, blocks, eventsPerSettling);
  const repeats = createRepeats(db, latest);
  const packing = createPacking(db, blocks, eventsPerPacking);
  const indexing = createIndexing(db, () => blocks.written, eventsPerSegment);
  const parts = {
    position,
    users,
    catalogues,
    totals,
    contacts,
    claims,
    surplus,
    repeats,
    links,
    refused,
    blocks,
    indexing,
    detaching,
  };
  const tokens = createTokenWriter(db);
  const { createAccount, updateAccount } = createAccountWriter(db, { ...parts, tokens });
  const { eraseContact, deleteEventsBefore, ...erasures } = createErasures(db, parts);

  const updateContact = (change: ContactChange) => {
    const { account, contactUUID, address, ...rest } = change;
    const row = contacts.byName(change);
    const { addedTags: tags, attributes, fields } = change;
    const uses = usesOfContact({ profileID: fields.contactProfileID, tags, attributes });
    catalogues.check(account, false, uses);
    const answer = contacts.write(row, contactUUID === undefined ? rest : { ...rest, address });
    catalogues.register(account, false, uses);
    return answer;
  };

  const { logEvents, checkEvents } = createEventWriter(db, parts);
  const createContact = createContactCreator(db, parts);

  const carryOutReplayed = (replay: ReplayedWrite): ReplayedAnswer => {
    if (replay.write === 'createContact') return createContact(replay.request);
    if (replay.write === 'updateContact') return updateContact(replay.request);
    checkEvents(replay.request);
    return logEvents(replay.request);
  };

  const { linkUser, unlinkUser, voidLinks, acceptClaim, voidClaim } = links;
  const { mergeContact, unmergeContact } = createMergeWriter(db, contacts);
  const { recordAudit, recording } = createAuditWriter(db);
  const operations = recording({
    createAccount,
    updateAccount,
    ...tokens,
    ...createUnknownProxyWriter(db),
    recordAudit,
    logEvents,
    createContact,
    updateContact,
    linkUser,
    unlinkUser,
    voidLinks,
    acceptClaim,
    voidClaim,
    mergeContact,
    unmergeContact,
    eraseContact,
    deleteEventsBefore,
    keepRefused: refused.keepRefused,
    replayRefused: (replay) => (refused.takeReplayed(replay.refused) ? carryOutReplayed(replay) : undefined),
  });

  const pending = [position, users, catalogues, latest, repeats, totals, erasures, blocks, packing, indexing];
  const transactions = createTransactions(db, pending, () => {
    // Another process has committed: what is remembered may have changed.
    const data = dataVersion.get();
    if (data === seenData) return;
    seenData = data;
    for (const part of pending) part.forget();
  });

  const tidying = createTidying({
    transactions,
    log: createWriteAheadLog(db),
    unusedSpace: createUnusedSpace(db),
    erasing: erasures.isErasing(),
    detachSome: erasures.detachSome,
    continueErasures: erasures.continueErasures,
    completeErasures: erasures.completeErasures,
    arranging: {
      isDue: () => latest.isDue() || packing.isDue() || totals.isDue() || indexing.isUnderWay(),
      behind: indexing.behind,
      step() {
        if (latest.isDue()) latest.settle();
        // With every commit there may be something to pack, which would be all that is done.
        if (indexing.behind() > 0 && indexing.step(packing.packed)) return true;
        return packing.step() || totals.step() || indexing.step(packing.packed);
      },
      written: () => blocks.written,
      writtenBytes: () => blocks.writtenBytes,
    },
    forgetRepeats: (most) => repeats.forgetOld(position.day, most),
    day: () => position.day,
  });

  const record = createErasureRecord(db);
  let unrecorded: Erased[] = [];

  /** What was erased just now goes out of the files, and its names into the record. Answers whether there was room for that. */
  const followErasures = (): boolean => {
    const fresh = erasures.takeFresh();
    // Not whenever it is asked how far an erasure is: that would begin all anew.
    if (fresh.length > 0) tidying.erases();
    unrecorded.push(...fresh);
    if (unrecorded.length === 0) return true;
    try {
      record.append(unrecorded);
    } catch (error) {
      if (isNotNow(error)) return false;
      throw error;
    }
    unrecorded = [];
    return true;
  };

  return {
    /** One commit for all the calls. */
    write(calls: readonly Call[]): Outcome[] {
      const isErasure = ({ name }: Call) => name === 'eraseContact';
      const outcomes = transactions.run(
        calls.map((call) => ({
          carryOut: () => carryOut(operations, call),
          // Which answers for each event.
          mayThrowRefusal: call.name !== 'logEvents',
        })),
      );
      if (!calls.some(isErasure) || followErasures()) return outcomes;
      // Erased, and asked again it is recorded; until then no answer says that a backup doesn't bring it back.
      const later = { error: new Refusal('not_kept', { retryAfterSeconds: 5 }) };
      return calls.map((call, index) => (isErasure(call) ? later : (outcomes[index] as Outcome)));
    },
    /** Before anything is served: carries out again what was erased since the backup that this database may be. */
    eraseAgain(): void {
      const nameOf = ({ hash }: Erased) => hash.toString('hex');
      const recorded = record.read();
      const here = new Set(erasures.listErased().map(nameOf));
      const missing = recorded.filter((erased) => !here.has(nameOf(erased)));
      if (missing.length > 0) {
        const [outcome] = transactions.run([{ carryOut: () => erasures.eraseAgain(missing), mayThrowRefusal: false }]);
        if (outcome && 'error' in outcome) throw outcome.error;
      }
      // A server that ended before it could record them, or whose record is lost.
      const known = new Set(recorded.map(nameOf));
      if (erasures.takeFresh().length > 0) tidying.erases();
      unrecorded = erasures.listErased().filter((erased) => !known.has(nameOf(erased)));
      followErasures();
    },
    /** Takes away all that still names erased contacts. */
    detachAll(): void {
      for (let more = true; more; ) {
        const [outcome] = transactions.run([{ carryOut: erasures.detachSome, mayThrowRefusal: false }]);
        if (!outcome || 'error' in outcome) throw outcome?.error;
        more = outcome.value === true;
      }
    },
    catchUp: tidying.catchUp,
    /** A step of what may take its time: see tidying.ts. */
    tidy() {
      const rest = tidying.step();
      return followErasures() ? rest : Math.min(rest ?? pauseMilliseconds, pauseMilliseconds);
    },
  };
};
export type WriteEngine = ReturnType<typeof createWriteEngine>;

export const createReadEngine = (db: Connection, { eventsPerSegment }: Arrangement = {}) => {
  const tokens = createTokenReader(db);
  const { listAccounts, findAccount, getAccount, measureAccounts } = createAccountReader(db, tokens);
  const { listTokens, findProofKeys } = tokens;
  const { getContact, searchContact } = createContactReader(db);
  // One for both: it knows the newest events by heart.
  const finder = createEventFinder(db);
  const { countEvents, getEventDefinitions } = createCounter(db, finder);
  const operations = {
    listAccounts,
    findAccount,
    listTokens,
    ...createAuditReader(db),
    findProofKeys,
    getAccount,
    measureAccounts,
    getContact,
    searchContact,
    getEvents: createEventPager(db, { finder, mostBetween: eventsPerSegment }),
    countEvents,
    getEventDefinitions,
    ...createRefusedReader(db),
    check() {
      db.pragma('user_version');
    },
  } satisfies Reads;
  const read = createReads(db);
  return (call: Call): Promise<unknown> => read(() => carryOut(operations, call));
};
export type ReadEngine = ReturnType<typeof createReadEngine>;
