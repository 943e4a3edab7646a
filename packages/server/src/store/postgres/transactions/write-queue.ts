/**
 * Group commit: collects the batches that arrive while commits are under way into the next commit. Those of one account go together, and
 * accounts take turns. On a cluster, a commit has accounts of one machine.
 */
import { Refusal } from '../../../refusal.ts';
import type { EventBatch, EventOutcome } from '../../store.ts';
import { codeOf, isConflict } from '../database/connection.ts';
import type { Places } from '../database/machines.ts';

/** Parallel commits, each on its own connection: while PostgreSQL syncs one, the others are written. */
export const mostUnderWay = 4;

/** A transaction locks each of its accounts, and on a cluster some tables of each of their shards; PostgreSQL has room for some thousands of locks. */
export const mostAccounts = 32;
const mostShards = 16;

/** On a cluster, where a commit takes several times as long, a machine has one under way unless so many of its events wait, or it takes so long. */
const enoughEvents = 1_000;
const longMilliseconds = 500;

/** On a cluster: how long a commit waits for a lock before its shards are stored one by one. */
const patienceMilliseconds = 500;
/** For so long, a shard that was late by itself has commits of its own. */
const millisecondsApart = 5_000;

/** Approximate limit of events per commit. All clients of a commit get their responses when it ends. */
const mostEvents = 4_000;

/** lock_not_available */
const lockTimeout = '55P03';

/** Of begin_writing: the accounts are on several machines, or the machine does not know one of their shards yet. */
const dispersed = 'FH001';
const unknownShard = 'FH002';

/** When so many parts of a commit wait too long for a lock, one by one, it is one that all need: a migration holds it. The others are refused. */
const mostLate = 2;

interface Queued {
  readonly batch: EventBatch;
  readonly shard: number;
  /** Whether it was sent here because it was on another machine than the rest of its commit. */
  readonly isMoved: boolean;
  readonly resolve: (outcomes: EventOutcome[]) => void;
  readonly reject: (error: unknown) => void;
}

export type WriteQueue = (batch: EventBatch) => Promise<EventOutcome[]>;
/** How a commit waits for locks; undefined: as all others. */
export interface Waiting {
  readonly patienceMilliseconds?: number | undefined;
}
type Keep = (batches: readonly EventBatch[], waiting: Waiting) => Promise<EventOutcome[][]>;
type Measure = (events: number, seconds: number) => void;

/** Whether a transaction waited too long for a lock. */
const isLate = (error: unknown): boolean => error instanceof Refusal && codeOf(error.cause) === lockTimeout;

/** Whether the machine did not know a shard yet. */
const isOfShard = (error: unknown): boolean => error instanceof Refusal && codeOf(error.cause) === unknownShard;

/** Whether others can be stored nevertheless: a Refusal says that the database cannot store anything now, unless it is of a lock or a shard. */
const isOfOne = (error: unknown): boolean =>
  !(error instanceof Refusal) || isConflict(error.cause) || isLate(error) || isOfShard(error);

const groupBy = <Key>(taken: readonly Queued[], keyOf: (queued: Queued) => Key): Queued[][] => {
  const groups = new Map<Key, Queued[]>();
  for (const queued of taken) {
    const group = groups.get(keyOf(queued));
    if (group) group.push(queued);
    else groups.set(keyOf(queued), [queued]);
  }
  return [...groups.values()];
};

/** Divides what could not be stored together: by shard, by account, then by batch. Returns nothing when it cannot be divided, or need not be. */
const partsOf = (taken: readonly Queued[], error: unknown): (readonly Queued[])[] => {
  if (!isOfOne(error)) return [];
  const shards = groupBy(taken, ({ shard }) => shard);
  if (shards.length > 1) return shards;
  const accounts = groupBy(taken, ({ batch }) => batch.account);
  if (accounts.length > 1 && !isOfShard(error)) return accounts;
  return error instanceof Refusal || taken.length === 1 ? [] : taken.map((each) => [each]);
};

/** What waits, and shares commits: by account, the one that has waited longest first. */
interface Lane {
  readonly lines: Map<number, Queued[]>;
  events: number;
  /** Commits that are under way, and those of them that have not taken long yet. */
  commits: number;
  recent: number;
}

/** The lane of a shard that was late by itself. */
interface Apart {
  readonly lane: Lane;
  until: number;
}

const eventsIn = (taken: readonly Queued[]): number => taken.reduce((sum, { batch }) => sum + batch.events.length, 0);

const createLane = (): Lane => ({ lines: new Map(), events: 0, commits: 0, recent: 0 });

const add = (lane: Lane, queued: Queued): void => {
  const { account, events } = queued.batch;
  const line = lane.lines.get(account);
  if (line) line.push(queued);
  else lane.lines.set(account, [queued]);
  lane.events += events.length;
};

/** Takes what goes into the next commit of a lane. */
const take = (lane: Lane): Queued[] => {
  const { lines } = lane;
  const taken: Queued[] = [];
  const shards = new Set<number>();
  let accounts = 0;
  let events = 0;
  for (const [account, line] of [...lines]) {
    const end = line.findIndex(({ batch, shard }, nth) => {
      if (taken.length + nth > 0 && events + batch.events.length > mostEvents) return true;
      if (shards.size === mostShards && !shards.has(shard)) return true;
      events += batch.events.length;
      shards.add(shard);
      return false;
    });
    if (end === 0) {
      if (shards.size === mostShards) continue;
      break;
    }
    taken.push(...line.splice(0, end < 0 ? line.length : end));
    accounts += 1;
    // What is left waits behind the other accounts.
    lines.delete(account);
    if (line.length > 0) lines.set(account, line);
    if (end > 0 || accounts === mostAccounts) break;
  }
  lane.events -= events;
  return taken;
};

/** Takes all that waits, or all of one shard. */
const takeAll = (lane: Lane, ofShard?: number): Queued[] => {
  const isTaken = ({ shard }: Queued) => ofShard === undefined || shard === ofShard;
  const taken: Queued[] = [];
  for (const [account, line] of [...lane.lines]) {
    taken.push(...line.filter(isTaken));
    const left = line.filter((queued) => !isTaken(queued));
    if (left.length > 0) lane.lines.set(account, left);
    else lane.lines.delete(account);
  }
  lane.events -= eventsIn(taken);
  return taken;
};

interface OnCluster {
  /** Stores batches where their accounts are now, because these were on several machines. */
  readonly move: (batches: readonly EventBatch[]) => Promise<EventOutcome[]>[];
}

/**
 * Returns a function that stores a batch of an account in a shard; without Citus, all are in one. `keep` stores several in one commit. When it
 * fails, each shard is stored by itself, then each account, and then each batch, unless the database cannot store anything now. `measure`
 * receives the events and the duration of each commit.
 */
const createQueue = (keep: Keep, measure: Measure = () => {}, onCluster?: OnCluster) => {
  const shared = createLane();
  /** By shard. The one whose commit began longest ago comes first. */
  const apart = new Map<number, Apart>();
  const underWay = { all: 0, apart: 0 };
  let scheduled = false;

  /** Waits for the other requests that are read in this turn of the event loop. */
  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(flush);
  };

  const isInUse = ({ lane, until }: Apart): boolean =>
    lane.lines.size > 0 || lane.commits > 0 || performance.now() < until;

  const laneOf = (shard: number): Lane => {
    const found = apart.get(shard);
    if (found && isInUse(found)) return found.lane;
    apart.delete(shard);
    return shared;
  };

  const setApart = (shard: number, taken: readonly Queued[]): void => {
    const until = performance.now() + millisecondsApart;
    const lane = apart.get(shard)?.lane ?? createLane();
    apart.set(shard, { lane, until });
    for (const queued of [...taken, ...takeAll(shared, shard)]) add(lane, queued);
    schedule();
  };

  const endApart = (shard: number, one: Apart): void => {
    // It was set apart again meanwhile.
    if (apart.get(shard) !== one) return;
    apart.delete(shard);
    for (const queued of takeAll(one.lane)) add(shared, queued);
  };

  /** Sends batches to the machines of their accounts, if these are on several. Returns whether it does. */
  const disperse = (taken: readonly Queued[], error: unknown): boolean => {
    if (!onCluster || codeOf(error) !== dispersed || taken.some(({ isMoved }) => isMoved)) return false;
    const moved = onCluster.move(taken.map(({ batch }) => batch));
    for (const [nth, { resolve, reject }] of taken.entries()) void moved[nth]?.then(resolve, reject);
    return true;
  };

  /** `isPatient`: it waits for locks as long as others. Returns why some were not stored, if so. */
  const commit = async (taken: readonly Queued[], isPatient: boolean): Promise<unknown> => {
    try {
      const began = performance.now();
      const batches = taken.map(({ batch }) => batch);
      const waiting = isPatient ? {} : { patienceMilliseconds };
      const outcomes = await keep(batches, waiting);
      measure(eventsIn(taken), (performance.now() - began) / 1_000);
      taken.forEach(({ resolve }, nth) => {
        resolve(outcomes[nth] as EventOutcome[]);
      });
      return undefined;
    } catch (error) {
      if (disperse(taken, error)) return error;
      const [{ shard } = { shard: 0 }] = taken;
      if (!isPatient && isLate(error) && taken.every((queued) => queued.shard === shard)) {
        setApart(shard, taken);
        return error;
      }
      // Only the shard, the account and the batch that causes the error fails.
      const parts = partsOf(taken, error);
      let late = 0;
      let isAnyStored = false;
      for (const part of parts) {
        if (isLate(error) && late === mostLate && !isAnyStored) for (const { reject } of part) reject(error);
        else if (await commit(part, isPatient)) late += 1;
        else isAnyStored = true;
      }
      if (parts.length === 0) for (const { reject } of taken) reject(error);
      return error;
    }
  };

  const begin = (lane: Lane, isApart: 0 | 1): Promise<unknown> => {
    underWay.all += 1;
    underWay.apart += isApart;
    lane.commits += 1;
    lane.recent += 1;
    let isRecent = 1;
    const age = () => {
      lane.recent -= isRecent;
      isRecent = 0;
    };
    const aging = setTimeout(() => {
      age();
      flush();
    }, longMilliseconds);
    return commit(take(lane), isApart === 1 || !onCluster).finally(() => {
      clearTimeout(aging);
      age();
      underWay.all -= 1;
      underWay.apart -= isApart;
      lane.commits -= 1;
    });
  };

  const isReady = ({ lines, events, recent }: Lane): boolean =>
    lines.size > 0 && (!onCluster || recent === 0 || events >= enoughEvents);

  const flush = () => {
    scheduled = false;
    // Not on all connections: what is not apart never waits for these.
    for (const [shard, one] of [...apart]) {
      if (one.lane.lines.size === 0 || one.lane.commits > 0) continue;
      if (underWay.all === mostUnderWay || underWay.apart === mostUnderWay - 1) break;
      apart.delete(shard);
      apart.set(shard, one);
      void begin(one.lane, 1).then((error) => {
        if (error === undefined) endApart(shard, one);
        else one.until = performance.now() + millisecondsApart;
        flush();
      });
    }
    while (isReady(shared) && underWay.all < mostUnderWay) void begin(shared, 0).then(flush);
  };

  return (batch: EventBatch, { shard = 0, isMoved = false } = {}): Promise<EventOutcome[]> =>
    new Promise((resolve, reject) => {
      add(laneOf(shard), { batch, shard, isMoved, resolve, reject });
      schedule();
    });
};

export const createWriteQueue = (keep: Keep, measure?: Measure): WriteQueue => {
  const ask = createQueue(keep, measure);
  return (batch) => ask(batch);
};

/** The same on a cluster: a queue for each machine, so that a slow one holds up its own accounts only. */
export const createWriteQueues = (places: Places, keep: Keep, measure?: Measure): WriteQueue => {
  const queues = new Map<number, ReturnType<typeof createQueue>>();
  const store = async (batch: EventBatch, isMoved: boolean): Promise<EventOutcome[]> => {
    const { machine, shard } = await places.of(batch.account);
    const queue = queues.get(machine) ?? createQueue(keep, measure, { move });
    queues.set(machine, queue);
    return queue(batch, { shard, isMoved });
  };
  const move = (batches: readonly EventBatch[]): Promise<EventOutcome[]>[] => {
    places.forget(batches.map(({ account }) => account));
    return batches.map((batch) => store(batch, true));
  };
  return (batch) => store(batch, false);
};
