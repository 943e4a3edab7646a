/** Watches for changes made by other servers, on a separate connection. */
import { setTimeout as wait } from 'node:timers/promises';
import { accessChannel } from '../../operations/tokens.ts';
import { openListener } from './connection.ts';

/** The pause between two queries, which is the maximum delay of other servers' events in a stream. */
const pauseMilliseconds = 100;

/**
 * SQL whose result changes with each commit that stores events or changes owners: `nextval` changes a sequence's value,
 * and the commit changes the list of open writers. `is_called` reveals the first `nextval`, because `last_value` is the
 * same before and after it.
 */
const stateSQL = `
  SELECT s.last_value AS sequence, c.last_value AS change, c.is_called AS changed, e.last_value AS erasure, e.is_called AS erased,
    (SELECT string_agg(writer, ' ' ORDER BY writer) FROM held_floors(0)) AS writers
  FROM event_order s, owner_change_number c, erasure_number e`;

/** A cache of tokens. `noteResponse` reports the time of the last query that the database has responded to. */
interface CachedAccess {
  forget(): void;
  noteResponse(queryTime: number): void;
}

/** Calls `onCommit` when events were stored or owners changed, and `access.forget` when a server changed a token. */
export const startWatch = (
  databaseURL: string,
  access: CachedAccess,
  onCommit: () => void,
): { close(): Promise<void> } => {
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = () => wait(pauseMilliseconds, undefined, { signal }).catch(() => {});

  const watch = async () => {
    let isLost = false;
    const onLost = () => {
      isLost = true;
    };
    const db = await openListener(databaseURL, { channel: accessChannel, onNotification: access.forget, onLost });
    // Clears the cache, because changes made before LISTEN sent no notification.
    access.forget();
    let previous = '';
    try {
      while (!signal.aborted && !isLost) {
        const queryTime = performance.now();
        const [rows] = await db.script(stateSQL);
        access.noteResponse(queryTime);
        const state = JSON.stringify(rows);
        if (state !== previous) onCommit();
        previous = state;
        await pause();
      }
    } finally {
      access.forget();
      await db.close();
    }
  };

  const run = async () => {
    while (!signal.aborted) {
      // Ignores the error, because operations report that the database is unavailable.
      await watch().catch(() => {});
      await pause();
    }
  };
  const running = run();

  return {
    async close() {
      stopping.abort();
      await running;
    },
  };
};
