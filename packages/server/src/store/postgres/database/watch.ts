/** Watches for changes that other servers make, on its own connection. */
import { setTimeout as wait } from 'node:timers/promises';
import { accessChannel } from '../../operations/tokens.ts';
import { openListener } from './connection.ts';

/** The pause between two queries: the delay with which a stream gets events that another server stored. */
const pauseMilliseconds = 100;

/**
 * Differs after each commit that stores events or changes owners: the numbers differ once one is drawn, and the writers once it is
 * committed. An erasure or a merge draws no sequence. Before the first number is drawn, `last_value` is that number.
 */
const stateSQL = `
  SELECT s.last_value AS sequence, c.last_value AS change, c.is_called AS changed, e.last_value AS erasure, e.is_called AS erased,
    (SELECT string_agg(writer, ' ' ORDER BY writer) FROM held_floors(0)) AS writers
  FROM event_order s, owner_change_number c, erasure_number e`;

/** What a server has cached of tokens: `heardAt` says since when the database has not been silent. */
interface CachedAccess {
  forget(): void;
  heardAt(asked: number): void;
}

/** Calls `committed` when events were stored or an owner has changed, and `access.forget` when a server changed a token. */
export const startWatch = (
  databaseURL: string,
  access: CachedAccess,
  committed: () => void,
): { close(): Promise<void> } => {
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = () => wait(pauseMilliseconds, undefined, { signal }).catch(() => {});

  const watch = async () => {
    let isLost = false;
    const lost = () => {
      isLost = true;
    };
    const db = await openListener(databaseURL, { channel: accessChannel, heard: access.forget, lost });
    // Changes before LISTEN were not notified.
    access.forget();
    let seen = '';
    try {
      while (!signal.aborted && !isLost) {
        const asked = performance.now();
        const [rows] = await db.script(stateSQL);
        access.heardAt(asked);
        const state = JSON.stringify(rows);
        if (state !== seen) committed();
        seen = state;
        await pause();
      }
    } finally {
      access.forget();
      await db.close();
    }
  };

  const run = async () => {
    while (!signal.aborted) {
      // Ignored: the database is unavailable, which the operations report.
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
