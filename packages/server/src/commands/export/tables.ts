/** The tables that each run of an incremental export replaces: contacts, links, owners, merges and event names. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { clause, literal, name, sql } from '../../reports/engine/sql.ts';
import type { FeedErasure } from '../../store/report-feed.ts';
import type { SearchPosition, UserLinks } from '../../store/store.ts';
import {
  type Column,
  contacts,
  eventNames,
  links,
  mergedContacts,
  owners,
  selectListOf,
  users,
  withPage,
} from './columns.ts';
import { chunksOf, type Run, usersPerRead } from './run.ts';
import { viewsName, viewsSQL } from './views.ts';

const contactsPerPage = 500;

/** Reads the users whose links changed since a position, into the tables `links`, `owners` and `users`. */
export const readLinks = async ({ store, account, writer }: Run, since: string | null) => {
  const tables = { links: withPage(links), owners: withPage(owners), users: withPage(users) };
  for (const [table, columns] of Object.entries(tables)) await writer.createTable(table, columns);
  const erased = new Map<string, FeedErasure>();
  let position = since;
  for (let page = 0; ; page += 1) {
    const fed = await store.feedOwners({ account, since: position });
    if (fed.reset && position !== null)
      throw new Error('the database was restored, or too many links changed during the export: run it again');
    // The feed repeats each erasure until its events are deleted.
    for (const erasure of fed.erased) erased.set(Object.values(erasure).join(' '), erasure);
    const changed = fed.users.map(({ user }) => user);
    for (const some of chunksOf(changed, usersPerRead)) {
      const read = await store.listUserLinks({ account, users: some });
      const rowsOf = <Value extends object>(of: (user: UserLinks) => readonly Value[]) =>
        read.flatMap((user) => of(user).map((value) => ({ ...value, userUUID: user.userUUID, page })));
      await writer.append(
        'links',
        tables.links,
        rowsOf((user) => user.links),
      );
      await writer.append(
        'owners',
        tables.owners,
        rowsOf((user) => user.stretches),
      );
      await writer.append(
        'users',
        tables.users,
        rowsOf((user) => [user]),
      );
    }
    position = fed.position;
    if (!fed.more) return { erased: [...erased.values()], position };
  }
};

/** Reads the tables that each export replaces completely: `contacts`, `merged_contacts` and `event_names`. */
export const readContacts = async ({ store, account, writer }: Run): Promise<void> => {
  await writer.createTable('contacts', contacts);
  for (let beyond: SearchPosition | undefined; ; ) {
    const found = await store.searchContact({ account, limit: contactsPerPage, beyond });
    await writer.append('contacts', contacts, found.contacts);
    if (found.next === null) break;
    beyond = found.next;
  }
  await writer.createTable('merged_contacts', mergedContacts);
  await writer.append('merged_contacts', mergedContacts, await store.listMergedContacts({ account }));
  await writer.createTable('event_names', eventNames);
  const events = await store.listCatalogue({ account, kind: 'event' });
  await writer.append(
    'event_names',
    eventNames,
    events.filter(({ id, name }) => id !== name),
  );
};

/** Rewrites a table's file with the rows of the users that were read again; other users' rows stay. */
const replaceUserRows = async (
  { folder, writer }: Run,
  table: string,
  columns: readonly Column<never>[],
  isNew: boolean,
): Promise<void> => {
  const path = join(folder, `${table}.parquet`);
  const selectList = selectListOf(columns);
  // A user whose links changed during the export was read again on a later page.
  const read = sql`SELECT ${selectList} FROM ${name(table)} SEMI JOIN (
    SELECT "userUUID", max(page) AS page FROM users GROUP BY "userUUID") newest USING ("userUUID", page)`;
  const unchanged = sql`SELECT * FROM read_parquet(${literal(path)}) ANTI JOIN users USING ("userUUID")`;
  const rows = isNew ? read : clause`${read} UNION ALL ${unchanged}`;
  await writer.writeFile(path, sql`SELECT * FROM ${rows} ORDER BY ALL`);
};

export const replaceTables = async (run: Run, isNew: boolean): Promise<void> => {
  const { folder, writer } = run;
  const [changed] = await writer.query(sql`SELECT count(*) AS users FROM users`);
  if (isNew || Number(changed?.users) > 0) {
    await replaceUserRows(run, 'links', links, isNew);
    await replaceUserRows(run, 'owners', owners, isNew);
  }
  const whole = { contacts, merged_contacts: mergedContacts, event_names: eventNames };
  for (const [table, columns] of Object.entries(whole))
    await writer.writeFile(join(folder, `${table}.parquet`), sql`SELECT ${selectListOf(columns)} FROM ${name(table)}`);
  await writeFile(join(folder, viewsName), viewsSQL, { mode: 0o600 });
};
