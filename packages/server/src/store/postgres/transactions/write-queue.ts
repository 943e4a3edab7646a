/**
 * Group commit: collects the batches that arrive while commits are under way into the next commit. Those of one account go together, and
 * accounts take turns. On a cluster, a commit has accounts of one machine.
 */
import { Refusal } from '../../../shared/refusal.ts';
import type { EventBatch, EventOutcome } from '../../store.ts';
import { codeOf, isConflict, isLate } from '../database/connection.ts';
import type { Places } from '../database/machines.ts';
import {
  add,
  createLane,
  eventsIn,
  type Lane,
  mostAccounts,
  mostEvents,
  type Queued,
  take,
  takeSome,
} from './lanes.ts';

/** Parallel commits, each on its own connection: while PostgreSQL syncs one, the others are written. */
export const mostUnderWay = 4;

/** On a cluster, where a commit takes several times as long, a machine has one under way unless so many of its events wait, or it takes so long. */
const enoughEvents = 1_000;
const longMilliseconds = 500;
/**
 * On a cluster: after a commit that took all batches, a machine's next one waits until as many have arrived, because clients that are answered together
 * send their next requests together (figures: test/citus/README.md). This is the longest pause, as a share of the last commit's time.
 */
const pauseShare = 0.5;
/** The longest pause in any case. Requests that arrive independently may wait that long. */
const mostPauseMilliseconds = 20;

/** On a cluster: how long a commit waits for each lock before it is divided, and then each of its parts. */
const patienceMilliseconds = 500;
const patienceOfPart = 100;
/** After it was late by itself, a shard has commits of its own for so long, on so many connections with the others of this kind. */
const millisecondsApart = 5_000;
const mostApart = 2;
/** A batch that has waited so long for such a commit is refused. */
const mostWaitMilliseconds = 5_000;

/** Errors of begin_writing: the accounts are on several machines, or the machine does not know one of their shards yet; the latter also of shard_call. */
const dispersed = 'FH001';
const unknownShard = 'FH002';

/**
 * When so many parts of a commit wait too long for a lock, and none is stored, it is one that all need: a migration holds it. The others are refused. Parts of a
 * commit of several shards on a cluster go on to the lane of their shard instead.
 */
const mostLate = 2;

export type WriteQueue = (batch: EventBatch) => Promise<EventOutcome[]>;
/** How a commit waits for locks; undefined: as all others. */
export interface Waiting {
  readonly patienceMilliseconds?: number | undefined;
}
type Keep = (batches: readonly EventBatch[], waiting: Waiting) => Promise<EventOutcome[][]>;
type Measure = (events: number, seconds: number) => void;

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

/** The lane of a shard that was late by itself. */
interface Apart {
  readonly lane: Lane;
  until: number;
}

const notKept = (): Refusal => new Refusal('not_kept', { retryAfterSeconds: 1 });

interface OnCluster {
  /** Stores batches where their accounts are now, because these were on several machines. */
  readonly move: (batches: readonly EventBatch[]) => Promise<EventOutcome[]>[];
}

/**
 * Returns a function that stores a batch of an account in a shard; without Citus, all are in one. `keep` stores several in one commit. When it
 * fails, each shard is stored by itself, then each account, and then each batch, unless the database cannot store anything now. A shard that
 * is late by itself has a lane of its own for a while. `measure` receives the events and the duration of each commit.
 */
const createQueue = (keep: Keep, measure: Measure = () => {}, onCluster?: OnCluster) => {
  const shared = createLane();
  /** By shard. The one that was late last comes last. */
  const apart = new Map<number, Apart>();
  const most = onCluster ? mostAccounts.onCluster : mostAccounts.onOne;
  let underWay = 0;
  let scheduled = false;
  /** Set while the shared lane waits for its timer, or for so many batches. */
  let pause: { readonly timer: NodeJS.Timeout; readonly batches: number } | undefined;

  /** Waits for the other requests that are read in this turn of the event loop. */
  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(flush);
  };

  const laneOf = (shard: number): Lane => {
    const found = apart.get(shard);
    if (!found) return shared;
    const { lane, until } = found;
    return lane.lines.size > 0 || lane.awaited > 0 || performance.now() < until ? lane : shared;
  };

  /** Gives a shard that was late a lane of its own, behind those of others. */
  const setApart = (shard: number): Lane => {
    const { lane } = apart.get(shard) ?? { lane: createLane() };
    apart.delete(shard);
    apart.set(shard, { lane, until: performance.now() + millisecondsApart });
    return lane;
  };

  /** Sends batches to the machines of their accounts, if these are on several. Returns whether it does. */
  const disperse = (taken: readonly Queued[], error: unknown): boolean => {
    if (!onCluster || codeOf(error) !== dispersed || taken.some(({ isMoved }) => isMoved)) return false;
    const moved = onCluster.move(taken.map(({ batch }) => batch));
    for (const [nth, { resolve, reject }] of taken.entries()) void moved[nth]?.then(resolve, reject);
    return true;
  };

  /** Moves late batches to the lane of their shard, if they are of one shard. Returns whether it does. */
  const delay = (taken: readonly Queued[], error: unknown): boolean => {
    const [{ shard } = { shard: 0 }] = taken;
    if (!onCluster || !isLate(error) || taken.some((queued) => queued.shard !== shard)) return false;
    const lane = setApart(shard);
    for (const queued of [...taken, ...takeSome(shared, (queued) => queued.shard === shard)]) add(lane, queued);
    schedule();
    return true;
  };

  const endPause = (): void => {
    clearTimeout(pause?.timer);
    pause = undefined;
  };

  const beginPause = (batches: number, milliseconds: number): void => {
    endPause();
    const resume = () => {
      pause = undefined;
      flush();
    };
    const timer = setTimeout(resume, Math.min(milliseconds * pauseShare, mostPauseMilliseconds));
    pause = { timer, batches };
  };

  interface Kind {
    /** Whether it is of a lane that is apart. */
    readonly isApart: boolean;
    readonly isPart: boolean;
  }

  const waitingOf = (taken: readonly Queued[], { isApart, isPart }: Kind): Waiting => {
    const isOfOneAccount = new Set(taken.map(({ batch }) => batch.account)).size === 1;
    if (!onCluster || (isApart && isOfOneAccount)) return {};
    return { patienceMilliseconds: isPart ? patienceOfPart : patienceMilliseconds };
  };

  /** Returns why some were not stored, if so. */
  const commit = async (taken: readonly Queued[], kind: Kind): Promise<unknown> => {
    try {
      const began = performance.now();
      const batches = taken.map(({ batch }) => batch);
      const waiting = waitingOf(taken, kind);
      const outcomes = await keep(batches, waiting);
      measure(eventsIn(taken), (performance.now() - began) / 1_000);
      taken.forEach(({ resolve }, nth) => {
        resolve(outcomes[nth] as EventOutcome[]);
      });
      return undefined;
    } catch (error) {
      const { isApart } = kind;
      if (disperse(taken, error) || (!isApart && delay(taken, error))) return error;
      // Only the shard, the account and the batch that causes the error fails.
      const parts = partsOf(taken, error);
      let failure = parts.length === 0 ? error : undefined;
      let late = 0;
      let isAnyStored = false;
      for (const part of parts) {
        const isHopeless = (isApart || !onCluster) && isLate(error) && late >= mostLate && !isAnyStored;
        const failed = isHopeless ? error : await commit(part, { isApart, isPart: true });
        if (isHopeless) for (const { reject } of part) reject(error);
        if (failed === undefined) isAnyStored = true;
        else if (isLate(failed)) late += 1;
        failure ??= failed;
      }
      if (parts.length === 0) for (const { reject } of taken) reject(error);
      return failure;
    }
  };

  /** Begins a commit of the shared lane, or of the lane of a shard that is apart. */
  const begin = async (lane: Lane, shard?: number): Promise<void> => {
    const isApart = shard !== undefined;
    underWay += 1;
    lane.awaited += 1;
    let isAwaited = 1;
    const age = () => {
      lane.awaited -= isAwaited;
      isAwaited = 0;
    };
    const goOn = () => {
      age();
      flush();
    };
    const taken = take(lane, most);
    const isAll = lane.lines.size === 0;
    const isSharedOnCluster = onCluster !== undefined && !isApart;
    if (isSharedOnCluster) endPause();
    const began = performance.now();
    const aging = isSharedOnCluster ? setTimeout(goOn, longMilliseconds) : undefined;
    const error = await commit(taken, { isApart, isPart: false });
    clearTimeout(aging);
    if (isSharedOnCluster && isAll && error === undefined) beginPause(taken.length, performance.now() - began);
    age();
    underWay -= 1;
    if (isApart && isLate(error)) setApart(shard);
    flush();
  };

  const flush = () => {
    scheduled = false;
    let apartUnderWay = [...apart.values()].filter(({ lane }) => lane.awaited > 0).length;
    const oldest = performance.now() - mostWaitMilliseconds;
    for (const [shard, { lane }] of [...apart]) {
      if (lane.awaited > 0 || apartUnderWay === mostApart || underWay === mostUnderWay) continue;
      for (const { reject } of takeSome(lane, ({ since }) => since < oldest)) reject(notKept());
      if (lane.lines.size === 0) continue;
      apartUnderWay += 1;
      void begin(lane, shard);
    }
    const isReady = () =>
      !onCluster ||
      shared.events >= enoughEvents ||
      (shared.awaited === 0 && (pause === undefined || shared.batches >= pause.batches));
    while (shared.lines.size > 0 && isReady() && underWay < mostUnderWay) void begin(shared);
  };

  return (batch: EventBatch, { shard = 0, isMoved = false } = {}): Promise<EventOutcome[]> =>
    new Promise((resolve, reject) => {
      const lane = laneOf(shard);
      if (lane !== shared && lane.events >= mostEvents) {
        reject(notKept());
        return;
      }
      add(lane, { batch, shard, isMoved, since: performance.now(), resolve, reject });
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
    places.forget();
    return batches.map((batch) => store(batch, true));
  };
  return (batch) => store(batch, false);
};
