/** Reads and updates the lists of holders per eventID in segment summaries. */
import { quarterHourMilliseconds, quarterHourOf } from '../../rules/rollups.ts';
import type { Connection } from '../database/connection.ts';
import type { ChunkedRead } from '../transactions/chunked-reads.ts';
import { type EventRow, eventTimeAt, factsAt } from './event-block.ts';
import { type EventFinder, type Range, type Segment, sourcesOfKinds } from './event-finder.ts';
import { type Holder, readVisitorList, withoutVisitors } from './visitor-list.ts';

/**
 * Visits the holders of events in these ranges, at least once per quarter hour: calls `visitAt` with a time in the
 * quarter hour, and the function that it returns with each holder. Visits all events with from ≤ eventTime < to, and
 * possibly others.
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
  visitAt: (time: number) => ((holder: Holder) => void) | undefined,
) => ChunkedRead<void>;

/** Returns the user of an event; for an event without a user, the negated contact. */
export const holderOf = ({ user, contact }: Pick<EventRow, 'user' | 'contact'>): Holder => user ?? -(contact as number);

/** Adds a visitor to the quarter hour of an event. */
export const addVisitor = (visitors: Map<number, Holder[]>, eventTime: number, visitor: Holder): void => {
  const quarter = quarterHourOf(eventTime);
  const list = visitors.get(quarter);
  if (list) list.push(visitor);
  else visitors.set(quarter, [visitor]);
};

/** Selects the segments with a summary that overlap after < sequence ≤ through, ascending. */
const createSegmentReader = (db: Connection) =>
  db.prepare<[number, number], Segment>(`
    SELECT segment, after, through FROM event_segment JOIN segment_summary USING (segment)
    WHERE through > ? AND after < ? ORDER BY segment`);

/** Subtracts `others` from the ranges. Both are in ascending order. */
const subtract = (ranges: readonly Range[], others: readonly Range[]): Range[] =>
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
  /** Returns the segments that overlap at least one of the ranges. Both are in ascending order. */
  const segmentsIn = (ranges: readonly Range[]): Segment[] => {
    const overlapping = ranges.flatMap(({ after, through }) => segments.all(after, through));
    return overlapping.filter(({ segment }, nth) => segment !== overlapping[nth - 1]?.segment);
  };

  return function* ({ account, eventIDs, from, to }, ranges, visitAt) {
    // Events of a segment that is written in the meantime are read individually. A segment that is deleted in the
    // meantime has no events left.
    const segmentsWithSummary = segmentsIn(ranges);
    for (const { segment } of segmentsWithSummary) {
      const lists =
        eventIDs === undefined
          ? ofAccount.iterate(segment, account)
          : eventIDs.flatMap((eventID) => ofEventID.all(segment, account, eventID));
      for (const list of lists) readVisitorList(list, (quarter) => visitAt(quarter * quarterHourMilliseconds));
      yield;
    }
    for (const match of find(sourcesOfKinds(account, eventIDs), subtract(ranges, segmentsWithSummary), 'asc', {
      account,
      from,
      to,
    })) {
      if (typeof match === 'number') yield;
      else {
        for (const index of match.indexes) {
          visitAt(eventTimeAt(match.block, index))?.(holderOf(factsAt(match.block, index)));
        }
      }
    }
  };
};

/**
 * Returns a function that removes the visitors of deleted events. The events must be in ascending order of sequence.
 */
export const createVisitorRemoval = (db: Connection) => {
  const segments = createSegmentReader(db);
  const key = 'segment = ? AND account = ? AND eventID = ?';
  const select = db
    .prepare<[number, number, number], Buffer>(`SELECT visitors FROM segment_visitors WHERE ${key}`)
    .pluck();
  const update = db.prepare(`UPDATE segment_visitors SET visitors = ? WHERE ${key}`);
  const drop = db.prepare(`DELETE FROM segment_visitors WHERE ${key}`);

  return (events: readonly EventRow[]): void => {
    const [first, last] = [events[0], events.at(-1)];
    if (!first || !last) return;
    for (const { segment, after, through } of segments.all(first.sequence - 1, last.sequence)) {
      const byEventID = new Map<string, { account: number; eventID: number; visitors: Map<number, Holder[]> }>();
      for (const event of events) {
        if (event.sequence <= after || event.sequence > through) continue;
        const { account, eventID, eventTime } = event;
        const name = `${account} ${eventID}`;
        const removed = byEventID.get(name) ?? { account, eventID, visitors: new Map() };
        byEventID.set(name, removed);
        addVisitor(removed.visitors, eventTime, holderOf(event));
      }
      for (const { account, eventID, visitors } of byEventID.values()) {
        const rest = withoutVisitors(select.get(segment, account, eventID) as Buffer, visitors);
        if (rest.length > 0) update.run(rest, segment, account, eventID);
        else drop.run(segment, account, eventID);
      }
    }
  };
};
