/**
 * Measures SQLite without our store: inserts the same rows through better-sqlite3 into a table without an index, in WAL
 * mode with FULL sync.
 */
import Database from '../src/store/sqlite/database/better-sqlite3.ts';
import type { NewEvent } from '../src/store/store.ts';

export const openBareTable = (path: string) => {
  const db = new Database(path);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec('CREATE TABLE bare (user INTEGER, eventID INTEGER, eventUUID TEXT, time INTEGER, attributes TEXT)');
  const insert = db.prepare('INSERT INTO bare VALUES (?, ?, ?, ?, ?)');
  return {
    /** Inserts all events in one transaction. */
    insertAll: db.transaction((events: readonly NewEvent[]) => {
      for (const { userUUID, eventID, eventUUID, eventTime, attributes } of events) {
        const user = Number((userUUID as string).slice('user_'.length));
        insert.run(user, eventID, eventUUID, eventTime, JSON.stringify(Object.fromEntries(attributes)));
      }
    }),
    close: () => db.close(),
  };
};
