/** Hearing of what other servers change, on a connection of its own. */
import { setTimeout as wait } from 'node:timers/promises';
import { type AccessMemory, accessChannel } from './access.ts';
import { openListener } from './connection.ts';
import { readSettled } from './position.ts';

/** Between two questions: how late a stream may learn of what another server has kept. */
const pauseMilliseconds = 100;

export interface Watch {
  close(): Promise<void>;
}

/** Calls `committed` whenever more is settled. */
export const startWatch = (
  databaseURL: string,
  access: Pick<AccessMemory, 'forget' | 'heardAt'>,
  committed: () => void,
): Watch => {
  const stopping = new AbortController();
  const { signal } = stopping;
  const pause = () => wait(pauseMilliseconds, undefined, { signal }).catch(() => {});

  const watch = async () => {
    let isLost = false;
    const lost = () => {
      isLost = true;
    };
    const db = await openListener(databaseURL, { channel: accessChannel, heard: access.forget, lost });
    // What was changed before it listened, nobody tells it.
    access.forget();
    let seen = -1;
    try {
      while (!signal.aborted && !isLost) {
        const asked = performance.now();
        const { settled } = await readSettled(db);
        access.heardAt(asked);
        if (settled !== seen) committed();
        seen = settled;
        await pause();
      }
    } finally {
      access.forget();
      await db.close();
    }
  };

  const run = async () => {
    while (!signal.aborted) {
      // The database is away, and those who ask it are told so.
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
