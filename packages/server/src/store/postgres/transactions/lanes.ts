/** Batches that wait for a commit, and what goes into one. */
import type { EventBatch, EventOutcome } from '../../store.ts';

/**
 * Limits of accounts per commit. A transaction locks each of its accounts, and on a cluster some tables of each of their shards; PostgreSQL has room
 * for some thousands of locks. A cluster executes each statement once for each shard, so more accounts share a commit there.
 */
export const mostAccounts = { onOne: 32, onCluster: 128 };
const mostShards = 16;

/** Approximate limit of events per commit. All clients of a commit get their responses when it ends. */
export const mostEvents = 4_000;

export interface Queued {
  readonly batch: EventBatch;
  readonly shard: number;
  /** When it came, by performance.now(). */
  readonly since: number;
  /** Whether it was sent here because it was on another machine than the rest of its commit. */
  readonly isMoved: boolean;
  readonly resolve: (outcomes: EventOutcome[]) => void;
  readonly reject: (error: unknown) => void;
}

/** Batches that wait and share commits, by account. The account that has waited longest comes first. */
export interface Lane {
  readonly lines: Map<number, Queued[]>;
  batches: number;
  events: number;
  /** How many commits it waits for: those under way, but for those that take long. */
  awaited: number;
}

export const eventsIn = (taken: readonly Queued[]): number =>
  taken.reduce((sum, { batch }) => sum + batch.events.length, 0);

export const createLane = (): Lane => ({ lines: new Map(), batches: 0, events: 0, awaited: 0 });

export const add = (lane: Lane, queued: Queued): void => {
  const { account, events } = queued.batch;
  const line = lane.lines.get(account);
  if (line) line.push(queued);
  else lane.lines.set(account, [queued]);
  lane.batches += 1;
  lane.events += events.length;
};

/** Takes the batches of a lane's next commit, of up to so many accounts. */
export const take = (lane: Lane, most: number): Queued[] => {
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
    // The rest of the line waits behind the other accounts.
    lines.delete(account);
    if (line.length > 0) lines.set(account, line);
    if (end > 0 || accounts === most) break;
  }
  lane.batches -= taken.length;
  lane.events -= events;
  return taken;
};

/** Takes some of the batches that wait. */
export const takeSome = (lane: Lane, isTaken: (queued: Queued) => boolean): Queued[] => {
  const taken: Queued[] = [];
  for (const [account, line] of [...lane.lines]) {
    taken.push(...line.filter(isTaken));
    const left = line.filter((queued) => !isTaken(queued));
    if (left.length > 0) lane.lines.set(account, left);
    else lane.lines.delete(account);
  }
  lane.batches -= taken.length;
  lane.events -= eventsIn(taken);
  return taken;
};
