/** Reads and updates the lists of the holders of each eventID's events, in the summaries of segments. */
import { quarterMilliseconds, quarterOf } from '../../rules/rollups.ts';
import type { Connection } from '../database/connection.ts';
import type { ChunkedRead } from '../transactions/chunked-reads.ts';
import { eventTimeAt, factsAt, type KeptEvent } from './event-block.ts';
import { type EventFinder, type Range, type Segment, sourcesOfKinds } from './event-finder.ts';
import { type Holder, readVisitorList, withoutVisitors } from './visitor-list.ts';

/**
 * Reports the holders of the events of some eventIDs in these ranges, at least once for each quarter of an hour: calls `seeAt` with a time
 * of that quarter, and the function that it returns with each holder. Reports all events with from <= eventTime < to, and may report
 * others.
 */
export type VisitHolders = (
  events: {
    readonly account: number;
    /** Undefined: every eventID. */
    readonly eventIDs: readonly number[] | undefined;
    readonly from: number;
    readonly to: number;
  },
  ranges: readonly Range[],
  seeAt: (time: number) => ((holder: Holder) => void) | undefined,
) => ChunkedRead<void>;

/** The user, or minus the contact for an event without a user. */
export const holderOf = ({ user, contact }: Pick<KeptEvent, 'user' | 'contact'>): Holder =>
  user ?? -(contact as number);

/** Adds a visitor to the quarter of an hour in which the event happened. */
export const addVisitor = (visitors: Map<number, Holder[]>, eventTime: number, visitor: Holder): void => {
  const quarter = quarterOf(eventTime);
  const those = visitors.get(quarter);
  if (those) those.push(visitor);
  else visitors.set(quarter, [visitor]);
};

/** Selects the segments with a summary that overlap after < sequence <= through, ascending. */
const createSegmentReader = (db: Connection) =>
  db.prepare<[number, number], Segment>(`
    SELECT segment, after, through FROM event_segment JOIN segment_summary USING (segment)
    WHERE through > ? AND after < ? ORDER BY segment`);

/** The parts of the ranges that the others don't cover. Both ascend. */
const without = (ranges: readonly Range[], others: readonly Range[]): Range[] =>
  ranges.flatMap((range) => {
    const rest: Range[] = [];
    let { after } = range;
    for (const other of others) {
      if (other.through <= after || other.after >= range.through) continue;
      if (other.after > after) rest.push({ after, through: other.after });
      after = other.through;
    }
    if (after < range.through) rest.push({ after, through: range.through });
    return rest;
  });

export const createVisitorReader = (db: Connection, find: EventFinder['find']): VisitHolders => {
  const segments = createSegmentReader(db);
  const ofEventID = db
    .prepare<[number, number, number], Buffer>(
      'SELECT visitors FROM segment_visitors WHERE segment = ? AND account = ? AND eventID = ?',
    )
    .pluck();
  const ofAccount = db
    .prepare<[number, number], Buffer>('SELECT visitors FROM segment_visitors WHERE segment = ? AND account = ?')
    .pluck();
  /** The segments that overlap at least one of the ranges; both ascend. */
  const segmentsIn = (ranges: readonly Range[]): Segment[] => {
    const found = ranges.flatMap(({ after, through }) => segments.all(after, through));
    return found.filter(({ segment }, nth) => segment !== found[nth - 1]?.segment);
  };

  return function* ({ account, eventIDs, from, to }, ranges, seeAt) {
    // A segment that is written meanwhile is not among these: its events are read. A segment that is deleted meanwhile has no
    // events left.
    const summed = segmentsIn(ranges);
    for (const { segment } of summed) {
      const lists =
        eventIDs === undefined
          ? ofAccount.iterate(segment, account)
          : eventIDs.flatMap((eventID) => ofEventID.all(segment, account, eventID));
      for (const list of lists) readVisitorList(list, (quarter) => seeAt(quarter * quarterMilliseconds));
      yield;
    }
    for (const found of find(sourcesOfKinds(account, eventIDs), without(ranges, summed), 'asc', {
      account,
      from,
      to,
    })) {
      if (typeof found === 'number') yield;
      else {
        for (const index of found.indexes) {
          seeAt(eventTimeAt(found.block, index))?.(holderOf(factsAt(found.block, index)));
        }
      }
    }
  };
};

/** Returns a function that removes the visitors of events that are being deleted. The events must ascend by sequence. */
export const createVisitorRemoval = (db: Connection) => {
  const segments = createSegmentReader(db);
  const key = 'segment = ? AND account = ? AND eventID = ?';
  const select = db
    .prepare<[number, number, number], Buffer>(`SELECT visitors FROM segment_visitors WHERE ${key}`)
    .pluck();
  const update = db.prepare(`UPDATE segment_visitors SET visitors = ? WHERE ${key}`);
  const drop = db.prepare(`DELETE FROM segment_visitors WHERE ${key}`);

  return (events: readonly KeptEvent[]): void => {
    const [first, last] = [events[0], events.at(-1)];
    if (!first || !last) return;
    for (const { segment, after, through } of segments.all(first.sequence - 1, last.sequence)) {
      const byEventID = new Map<string, { account: number; eventID: number; visitors: Map<number, Holder[]> }>();
      for (const event of events) {
        if (event.sequence <= after || event.sequence > through) continue;
        const { account, eventID, eventTime } = event;
        const name = `${account} ${eventID}`;
        const gone = byEventID.get(name) ?? { account, eventID, visitors: new Map() };
        byEventID.set(name, gone);
        addVisitor(gone.visitors, eventTime, holderOf(event));
      }
      for (const { account, eventID, visitors } of byEventID.values()) {
        const rest = withoutVisitors(select.get(segment, account, eventID) as Buffer, visitors);
        if (rest.length > 0) update.run(rest, segment, account, eventID);
        else drop.run(segment, account, eventID);
      }
    }
  };
};
