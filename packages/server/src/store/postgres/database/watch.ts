/** Watches for changes that other servers make, on its own connection. */
import { setTimeout as wait } from 'node:timers/promises';
import { type AccessMemory, accessChannel } from '../accounts/access.ts';
import { readSettled } from '../transactions/sequencer.ts';
import { openListener } from './connection.ts';

/** The pause between two queries: the delay with which a stream gets events that another server stored. */
const pauseMilliseconds = 100;

/**
 * Differs after each commit that changes owners. An erasure or a merge draws no sequence. The newest changes are summed up, because one may
 * be committed after a later one.
 */
const ownersSQL =
  'SELECT sum(change) AS owners FROM (SELECT change FROM owner_change ORDER BY change DESC LIMIT 100) newest';

/** Calls `committed` when the settled sequence (sequencer.ts) or an owner has changed, and `access.forget` when a server changed a token. */
export const startWatch = (
  databaseURL: string,
  access: Pick<AccessMemory, 'forget' | 'heardAt'>,
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
        const { settled } = await readSettled(db);
        access.heardAt(asked);
        const [[changed] = []] = await db.script(ownersSQL);
        const state = `${settled} ${changed?.owners}`;
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
