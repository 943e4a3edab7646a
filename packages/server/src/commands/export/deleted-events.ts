/** Removes, from the folder of an incremental export, the events that Firsthand has deleted. */
import { commandLine } from '../../http/access/caller.ts';
import { or, type SQL, sql, texts } from '../../reports/engine/sql.ts';
import { distinct } from '../../shared/distinct.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { FeedErasure } from '../../store/report-feed.ts';
import { owners } from './columns.ts';
import { chunksOf, type Run, usersPerRead } from './run.ts';

type ErasedPart = Extract<FeedErasure, { readonly user: number }>;
type UndoneStretch = Exclude<FeedErasure, ErasedPart | { readonly contact: number }>;

/** Returns the erased contacts that events in the files were logged with. */
const findErasedContacts = async ({ store, account, writer, files }: Run): Promise<string[]> => {
  const candidates = await writer.query(sql`
    SELECT DISTINCT "loggedContactUUID" FROM ${files.all} WHERE "loggedContactUUID" IS NOT NULL
      AND "loggedContactUUID" NOT IN (
        SELECT "contactUUID" FROM contacts UNION ALL SELECT "contactUUID" FROM merged_contacts)`);
  const erased: string[] = [];
  for (const { loggedContactUUID } of candidates) {
    const contactUUID = String(loggedContactUUID);
    // Checks each contact, because a list that is read page by page can miss an existing contact that is being merged.
    await store
      .getContact({ account, token: commandLine, browser: false, contactUUID, include: [] })
      .catch((error: unknown) => {
        if (!(error instanceof Refusal) || error.code !== 'erased_contact') throw error;
        erased.push(contactUUID);
      });
  }
  return erased;
};

/** Returns a condition for events `e` in erased parts of users' histories that were logged without a contact. */
const areInErasedParts = async ({ store, account, writer }: Run, parts: readonly ErasedPart[]): Promise<SQL> => {
  await writer.createTable('erased_parts', owners);
  for (const some of chunksOf(parts, usersPerRead)) {
    const named = await store.namePeople({ account, users: distinct(some.map(({ user }) => user)), contacts: [] });
    const userUUIDs = new Map(named.users.map(({ user, userUUID }) => [user, userUUID]));
    const rows = some.map((part) => ({ ...part, userUUID: userUUIDs.get(part.user) ?? '', contactUUID: '', page: 0 }));
    await writer.append('erased_parts', owners, rows);
  }
  return sql`e."loggedContactUUID" IS NULL AND EXISTS (FROM erased_parts p WHERE p."userUUID" = e."userUUID"
    AND p."afterSequence" < e.sequence AND coalesce(p."throughSequence", e.sequence) >= e.sequence)`;
};

/** Returns a condition for events `e` from undone imports. */
const areInUndoneImports = async ({ writer }: Run, stretches: readonly UndoneStretch[]): Promise<SQL> => {
  await writer.createTable('undone_stretches', owners);
  const rows = stretches.map((stretch) => ({ ...stretch, userUUID: '', contactUUID: '', page: 0 }));
  await writer.append('undone_stretches', owners, rows);
  return sql`EXISTS (FROM undone_stretches s WHERE s."afterSequence" < e.sequence AND s."throughSequence" >= e.sequence)`;
};

/**
 * Removes events that were erased, imported by an undone import, or deleted by retention. Returns the number of events
 * removed.
 */
export const removeDeleted = async (run: Run, erased: readonly FeedErasure[], through: number): Promise<number> => {
  const { store, account, files } = run;
  const conditions: SQL[] = [];
  const parts = erased.flatMap((erasure) => ('user' in erasure ? erasure : []));
  if (parts.length > 0) conditions.push(await areInErasedParts(run, parts));
  const undone = erased.flatMap((erasure) => ('user' in erasure || 'contact' in erasure ? [] : erasure));
  if (undone.length > 0) conditions.push(await areInUndoneImports(run, undone));
  if (erased.length > parts.length + undone.length) {
    const erasedContacts = await findErasedContacts(run);
    if (erasedContacts.length > 0)
      conditions.push(sql`coalesce(e."loggedContactUUID" IN (SELECT unnest(${texts(erasedContacts)})), false)`);
  }
  const { firstSequence } = await store.feedEvents({ account, beyond: through, limit: 1 });
  if (await files.haveBefore(firstSequence)) conditions.push(sql`e.sequence < ${firstSequence}`);
  return conditions.length === 0 ? 0 : files.remove(or(conditions));
};
