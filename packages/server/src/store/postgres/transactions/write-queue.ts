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

/** Each account of a commit takes a lock, and PostgreSQL has room for some thousands. */
export const mostAccounts = 32;

/** On a cluster, where a commit takes several times as long, a machine has one under way unless so many of its events wait. */
const enoughEvents = 1_000;

/** On a cluster: how long a commit of several shards waits for a lock. Then each of them is for itself for a while. */
const patienceMilliseconds = 500;
const millisecondsApart = 5_000;

/** Approximate limit of events per commit. All clients of a commit get their responses when it ends. */
const mostEvents = 4_000;

/** lock_not_available */
const lockTimeout = '55P03';

/** When so many accounts of a commit wait too long for a lock, one by one, it is one that all need: a migration holds it. The others are refused. */
const mostLate = 2;

/** cannot_connect_now: also of a machine that does not know yet how Citus has divided a shard. */
const notYet = '57P03';

/** Of begin_writing: the accounts are on several machines. */
const dispersed = 'FH001';

interface Queued {
  readonly batch: EventBatch;
  readonly shard: number;
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

/** Whether others can be stored nevertheless: a Refusal says that the database cannot store anything now, unless it waited for a lock. */
const isOfOne = (error: unknown): boolean => !(error instanceof Refusal) || isConflict(error.cause) || isLate(error);

/** Divides what could not be stored together: by account, then by batch. Returns nothing when it cannot be divided, or need not be. */
const partsOf = (taken: readonly Queued[], error: unknown): (readonly Queued[])[] => {
  const accounts = new Set(taken.map(({ batch }) => batch.account));
  if (!isOfOne(error) || taken.length === 1) return [];
  if (accounts.size > 1) return [...accounts].map((account) => taken.filter(({ batch }) => batch.account === account));
  return error instanceof Refusal ? [] : taken.map((each) => [each]);
};

/** What waits, and shares commits: by account, the one that has waited longest first. */
interface Lane {
  readonly lines: Map<number, Queued[]>;
  events: number;
  commits: number;
}

const createLane = (): Lane => ({ lines: new Map(), events: 0, commits: 0 });

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
  let accounts = 0;
  let events = 0;
  for (const [account, line] of [...lines]) {
    const end = line.findIndex(({ batch }, nth) => {
      if (taken.length + nth > 0 && events + batch.events.length > mostEvents) return true;
      events += batch.events.length;
      return false;
    });
    if (end === 0) break;
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

interface OnCluster {
  /** Stores batches where their accounts are now, because these were on several machines. */
  readonly move: (batches: readonly EventBatch[]) => Promise<EventOutcome[]>[];
}

/**
 * Returns a function that stores a batch of an account in a shard; without Citus, all are in one. `keep` stores several in one commit. When it
 * fails, each account is stored by itself, and then each batch, unless the database cannot store anything now. `measure` receives the events
 * and the duration of each commit.
 */
const createQueue = (keep: Keep, measure: Measure = () => {}, onCluster?: OnCluster) => {
  const shared = createLane();
  /** Shards of which one held up others lately. Each has a lane until nothing of it waits any more. */
  const apart = new Map<number, { readonly lane: Lane; readonly until: number }>();
  const underWay = { all: 0, apart: 0 };
  let lateInARow = 0;
  let scheduled = false;

  const laneOf = (shard: number): Lane => {
    const found = apart.get(shard);
    if (!found) return shared;
    if (found.lane.lines.size > 0 || performance.now() < found.until) return found.lane;
    apart.delete(shard);
    return shared;
  };

  const isReady = ({ lines, events, commits }: Lane): boolean =>
    lines.size > 0 && (!onCluster || commits === 0 || events >= enoughEvents);

  /** Stores each of several shards by itself, if one of them may have held up the others. Returns whether it does. */
  const separate = (taken: readonly Queued[], error: unknown): boolean => {
    const shards = new Set(taken.map(({ shard }) => shard));
    const isOfShard = isLate(error) || (error instanceof Refusal && codeOf(error.cause) === notYet);
    if (shards.size === 1 || !isOfShard) return false;
    const until = performance.now() + millisecondsApart;
    for (const shard of shards) apart.set(shard, { lane: apart.get(shard)?.lane ?? createLane(), until });
    for (const queued of taken) add(laneOf(queued.shard), queued);
    return true;
  };

  /** Sends batches to the machines of their accounts, if these are on several. Returns whether it does. */
  const disperse = (taken: readonly Queued[], error: unknown): boolean => {
    if (!onCluster || codeOf(error) !== dispersed) return false;
    const moved = onCluster.move(taken.map(({ batch }) => batch));
    for (const [nth, { resolve, reject }] of taken.entries()) void moved[nth]?.then(resolve, reject);
    return true;
  };

  /** Returns why some were not stored, if so. */
  const commit = async (taken: readonly Queued[]): Promise<unknown> => {
    try {
      const began = performance.now();
      const isOfSeveral = new Set(taken.map(({ shard }) => shard)).size > 1;
      const outcomes = await keep(
        taken.map(({ batch }) => batch),
        isOfSeveral ? { patienceMilliseconds } : {},
      );
      measure(
        taken.reduce((sum, { batch }) => sum + batch.events.length, 0),
        (performance.now() - began) / 1_000,
      );
      taken.forEach(({ resolve }, nth) => {
        resolve(outcomes[nth] as EventOutcome[]);
      });
      return undefined;
    } catch (error) {
      if (separate(taken, error) || disperse(taken, error)) return error;
      // Only the account, and only the batch, that causes the error fails.
      const parts = partsOf(taken, error);
      let late = 0;
      for (const part of parts) {
        if (error instanceof Refusal && late === mostLate) for (const { reject } of part) reject(error);
        else if (await commit(part)) late += 1;
      }
      if (parts.length === 0) for (const { reject } of taken) reject(error);
      return error;
    }
  };

  const commitOf = async (lane: Lane): Promise<void> => {
    lane.commits += 1;
    const error = await commit(take(lane));
    lane.commits -= 1;
    if (lane === shared) return;
    // As above: what so many wait for is a lock that all need.
    lateInARow = isLate(error) ? lateInARow + 1 : 0;
    if (lateInARow < mostLate) return;
    lateInARow = 0;
    for (const other of apart.values())
      while (other.lane.lines.size > 0) for (const { reject } of take(other.lane)) reject(error);
  };

  const flush = () => {
    scheduled = false;
    const begin = (lane: Lane, most: number): void => {
      while (isReady(lane) && underWay.all < mostUnderWay && underWay.apart < most) {
        const isApart = lane === shared ? 0 : 1;
        underWay.all += 1;
        underWay.apart += isApart;
        void commitOf(lane).finally(() => {
          underWay.all -= 1;
          underWay.apart -= isApart;
          flush();
        });
      }
    };
    // Not all connections: what is not apart never waits for these.
    for (const { lane } of apart.values()) begin(lane, mostUnderWay - 1);
    begin(shared, Number.POSITIVE_INFINITY);
  };

  return (batch: EventBatch, shard = 0): Promise<EventOutcome[]> =>
    new Promise((resolve, reject) => {
      add(laneOf(shard), { batch, shard, resolve, reject });
      if (scheduled) return;
      scheduled = true;
      // Waits for the other requests that are read in this turn of the event loop.
      setImmediate(flush);
    });
};

export const createWriteQueue = (keep: Keep, measure?: Measure): WriteQueue => createQueue(keep, measure);

/** The same on a cluster: a queue for each machine, so that a slow one holds up its own accounts only. */
export const createWriteQueues = (places: Places, keep: Keep, measure?: Measure): WriteQueue => {
  const queues = new Map<number, ReturnType<typeof createQueue>>();
  const store = async (batch: EventBatch): Promise<EventOutcome[]> => {
    const { machine, shard } = await places.of(batch.account);
    const queue = queues.get(machine) ?? createQueue(keep, measure, { move });
    queues.set(machine, queue);
    return queue(batch, shard);
  };
  const move = (batches: readonly EventBatch[]): Promise<EventOutcome[]>[] => {
    places.forget();
    return batches.map(store);
  };
  return store;
};
