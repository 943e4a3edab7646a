/** All that can be asked of a database, by name: the same on a thread of its own, in memory, and beside a running server. */

import type { ContactChange } from '../store.ts';
import { createAccountReader, createAccountWriter } from './accounts.ts';
import { createCatalogueWriter } from './catalogues.ts';
import { createClaimWriter } from './claims.ts';
import { type Connection, emptyLog } from './connection.ts';
import { createContactReader } from './contact-details.ts';
import { createContactWriter } from './contacts.ts';
import { createCounter } from './counts.ts';
import { createContactCreator, usesOf } from './create-contact.ts';
import { createErasures } from './erasures.ts';
import { createEventPager } from './event-pages.ts';
import { createEventWriter } from './events.ts';
import { createLinkWriter } from './links.ts';
import { createPosition } from './position.ts';
import { createRepeats } from './repeats.ts';
import { createReads } from './steps.ts';
import { createTotals } from './totals.ts';
import { createTransactions, type Outcome } from './transaction.ts';
import { createUsers } from './users.ts';

/** One operation of the store, as it is handed to another thread. */
export interface Call {
  readonly name: string;
  readonly request: unknown;
}

/** Rows that a step of the background work deletes. */
const rowsPerTidying = 500;

/** Until the write-ahead log is tried again: while a backup reads, each try holds events up for nothing. */
const logPauseMilliseconds = 500;

export const createWriteEngine = (db: Connection) => {
  const position = createPosition(db);
  const users = createUsers(db);
  const catalogues = createCatalogueWriter(db);
  const totals = createTotals(db);
  const contacts = createContactWriter(db);
  const claims = createClaimWriter(db);
  const repeats = createRepeats(db);
  const links = createLinkWriter(db, { position, users, contacts, claims });
  const parts = { position, users, catalogues, totals, contacts, claims, repeats, links };
  const { createAccount, updateAccount, createToken, revokeToken } = createAccountWriter(db, parts);
  const { eraseContact, continueErasures, deleteEventsBefore } = createErasures(db, parts);

  const updateContact = (change: ContactChange) => {
    const { account, contactUUID, address, ...rest } = change;
    const row = contacts.byName(change);
    const { addedTags: tags, attributes, fields } = change;
    const uses = usesOf({ profileID: fields.contactProfileID, tags, attributes });
    catalogues.check(account, false, uses);
    const answer = contacts.write(row, contactUUID === undefined ? rest : { ...rest, address });
    catalogues.register(account, uses);
    return answer;
  };

  const { linkUser, unlinkUser, voidLinks, acceptClaim, voidClaim, mergeContact, unmergeContact } = links;
  const operations = {
    createAccount,
    updateAccount,
    createToken,
    revokeToken,
    logEvents: createEventWriter(db, parts),
    createContact: createContactCreator(db, parts),
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
  } as unknown as Record<string, (request: unknown) => unknown>;

  const dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck();
  let seenData = dataVersion.get();
  const pending = [position, users, catalogues, totals];
  const transactions = createTransactions(db, pending, () => {
    // Another process has committed: what is remembered may have changed.
    const data = dataVersion.get();
    if (data === seenData) return;
    seenData = data;
    for (const part of pending) part.forget();
  });

  /** Whether the write-ahead log may still hold what was erased: after an erasure, and at the start, for all we know. */
  let logHoldsErased = true;
  let nextTry = 0;
  const cleanLog = () => {
    if (!logHoldsErased || performance.now() < nextTry) return;
    logHoldsErased = !emptyLog(db);
    if (logHoldsErased) nextTry = performance.now() + logPauseMilliseconds;
  };
  let deleting = false;

  return {
    /** One commit for all the calls. */
    write(calls: readonly Call[]): Outcome[] {
      logHoldsErased ||= calls.some(({ name }) => name === 'eraseContact');
      return transactions.run(
        calls.map(
          ({ name, request }) =>
            () =>
              operations[name]?.(request),
        ),
      );
    },
    /**
     * A step of what may take its time: getting what was erased out of the files, forgetting old repeats. Answers how
     * many milliseconds to rest before the next step, or null when there is nothing more to do.
     */
    tidy(): number | null {
      cleanLog();
      const step = () => continueErasures(rowsPerTidying) || repeats.forgetOld(position.day, rowsPerTidying);
      const [outcome] = transactions.run([step]);
      const wasDeleting = deleting;
      deleting = outcome !== undefined && 'value' in outcome && outcome.value === true;
      if (deleting) return 0;
      if (wasDeleting) {
        logHoldsErased = true;
        return 0;
      }
      return logHoldsErased ? logPauseMilliseconds : null;
    },
  };
};
export type WriteEngine = ReturnType<typeof createWriteEngine>;

export const createReadEngine = (db: Connection) => {
  const { listAccounts, findAccount, findProofKeys, getAccount } = createAccountReader(db);
  const { getContact, searchContact } = createContactReader(db);
  const { countEvents, getEventDefinitions } = createCounter(db);
  const operations = {
    listAccounts,
    findAccount,
    findProofKeys,
    getAccount,
    getContact,
    searchContact,
    getEvents: createEventPager(db),
    countEvents,
    getEventDefinitions,
    check: () => db.pragma('user_version', { simple: true }),
  } as unknown as Record<string, (request: unknown) => unknown>;
  const read = createReads(db);
  return ({ name, request }: Call): Promise<unknown> => read(() => operations[name]?.(request));
};
export type ReadEngine = ReturnType<typeof createReadEngine>;
