/** Brings the engine's copy of an account up to date with the store. */
import type { EventFeedPage, ReportFeed } from '../store/report-feed.ts';
import type { EngineProcess } from './engine-process.ts';
import type { LastEvents } from './messages.ts';

/** The maximum number of events in a message, which then takes about 2 MB. */
const eventsPerMessage = 20_000;
const maxAttempts = 3;

const comparedFields = ['sequence', 'user', 'contact', 'eventID', 'eventTime'] as const;

/** Whether the store has exactly these events in their sequence range. */
const isSame = (last: LastEvents, fed: EventFeedPage): boolean => {
  const through = Math.min(fed.through, last.through);
  if (through < last.through && !fed.more) return false;
  const count = fed.sequence.filter((sequence) => sequence <= through).length;
  if (count !== last.sequence.filter((sequence) => sequence <= through).length) return false;
  return comparedFields.every((name) =>
    last[name].subarray(0, count).every((value, index) => value === fed[name][index]),
  );
};

/** Resolves when the engine has every event and every owner change that was stored before the call. */
export const followFeed = async (feed: ReportFeed, engine: EngineProcess, account: number): Promise<void> => {
  /**
   * Returns the engine's new position in the owner feed; null if the engine must discard the account and start over.
   */
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
      const events = await feed.feedEvents({ account, beyond, limit: eventsPerMessage });
      await engine.send('append', { account, events });
      beyond = events.through;
      if (!events.more) return;
    }
  };
  const isOfThisStore = async (last: LastEvents): Promise<boolean> =>
    isSame(last, await feed.feedEvents({ account, beyond: last.beyond, limit: last.sequence.length + 1 }));

  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const { through, position, last } = await engine.send('open', { account });
    if (last === null || (await isOfThisStore(last))) {
      const ownersPosition = position ?? (await followOwners(null));
      await followEvents(through);
      if ((await followOwners(ownersPosition)) !== null) return;
    }
    await engine.send('discard', { account });
  }
  throw new Error(
    `the owner feed of account ${account} was reset ${maxAttempts} times while the account’s events were being read`,
  );
};
