/** Brings what the engine holds of an account up to date with the store. */
import type { FedEvents, ReportFeed } from '../store/report-feed.ts';
import type { EngineProcess } from './engine-process.ts';
import type { LastEvents } from './messages.ts';

/** The events of a message: about 2 MB. */
const eventsAtOnce = 20_000;
const maxAttempts = 3;

const compared = ['sequence', 'user', 'contact', 'eventID', 'eventTime'] as const;

/** Whether the store holds these events, and no others between their sequences. */
const isSame = (last: LastEvents, fed: FedEvents): boolean => {
  const most = Math.min(fed.through, last.through);
  if (most < last.through && !fed.more) return false;
  const count = fed.sequence.filter((sequence) => sequence <= most).length;
  if (count !== last.sequence.filter((sequence) => sequence <= most).length) return false;
  return compared.every((name) => last[name].subarray(0, count).every((value, index) => value === fed[name][index]));
};

/** Resolves when the engine holds every event and every change of owners that was stored when it was called. */
export const followFeed = async (feed: ReportFeed, engine: EngineProcess, account: number): Promise<void> => {
  /** Returns the position up to which the engine knows the owners now; null: it must forget all that it holds. */
  const followOwners = async (since: string | null): Promise<string | null> => {
    for (let position = since; ; ) {
      const owners = await feed.feedOwners({ account, since: position });
      if (owners.reset && position !== null) return null;
      await engine.send('owners', { account, owners });
      position = owners.position;
      if (!owners.more) return position;
    }
  };
  const followEvents = async (after: number): Promise<void> => {
    for (let beyond = after; ; ) {
      const events = await feed.feedEvents({ account, beyond, most: eventsAtOnce });
      await engine.send('append', { account, events });
      beyond = events.through;
      if (!events.more) return;
    }
  };
  const isOfThisStore = async (last: LastEvents): Promise<boolean> =>
    isSame(last, await feed.feedEvents({ account, beyond: last.beyond, most: last.sequence.length + 1 }));

  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const { through, position, last } = await engine.send('open', { account });
    if (last === null || (await isOfThisStore(last))) {
      const known = position ?? (await followOwners(null));
      await followEvents(through);
      if ((await followOwners(known)) !== null) return;
    }
    await engine.send('discard', { account });
  }
  throw new Error(`the owners of account ${account} are forgotten faster than its events are read`);
};
