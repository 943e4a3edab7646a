/** Reads and updates the visitors who had events of a kind, in the summaries of segments. */
import { quarterOf } from '../../rules/quarter.ts';
import type { Connection } from '../database/connection.ts';
import type { KeptEvent } from './event-block.ts';
import type { Range } from './event-finder.ts';
import { type Holder, readVisitorList, withoutVisitors } from './visitor-list.ts';

/** A segment with a summary: after < sequence <= through. */
interface SummedSegment extends Range {
  readonly segment: number;
}

export interface KindOfEvent {
  readonly account: number;
  /** Undefined: every kind. */
  readonly eventID: number | undefined;
}

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

/** Selects the segments that overlap after < sequence <= through, ascending. */
const createSegmentReader = (db: Connection) =>
  db.prepare<[number, number], SummedSegment>(`
    SELECT segment, after, through FROM event_segment JOIN segment_summary USING (segment)
    WHERE through > ? AND after < ? ORDER BY segment`);

export const createVisitorReader = (db: Connection) => {
  const segments = createSegmentReader(db);
  const ofKind = db
    .prepare<[number, number, number], Buffer>(
      'SELECT visitors FROM segment_visitors WHERE segment = ? AND account = ? AND eventID = ?',
    )
    .pluck();
  const ofAccount = db
    .prepare<[number, number], Buffer>('SELECT visitors FROM segment_visitors WHERE segment = ? AND account = ?')
    .pluck();
  return {
    /** The segments that overlap at least one of the ranges; both ascend. */
    segmentsIn(ranges: readonly Range[]): SummedSegment[] {
      const found = ranges.flatMap(({ after, through }) => segments.all(after, through));
      return found.filter(({ segment }, nth) => segment !== found[nth - 1]?.segment);
    },

    /** Calls the function that `ofQuarter` returns for a quarter with each visitor of that quarter, once for each event. */
    visit(
      segment: number,
      { account, eventID }: KindOfEvent,
      ofQuarter: (quarter: number) => ((visitor: Holder) => void) | undefined,
    ): void {
      const lists =
        eventID === undefined ? ofAccount.iterate(segment, account) : ofKind.iterate(segment, account, eventID);
      for (const list of lists) readVisitorList(list, ofQuarter);
    },
  };
};

/** The visitors to remove from a kind. */
interface Gone {
  readonly account: number;
  readonly eventID: number;
  readonly visitors: Map<number, Holder[]>;
}

interface VisitorWriter {
  /** Removes the visitors of events that are being deleted. The events must ascend by sequence. */
  remove(events: readonly KeptEvent[]): void;
}

export const createVisitorWriter = (db: Connection): VisitorWriter => {
  const segments = createSegmentReader(db);
  const key = 'segment = ? AND account = ? AND eventID = ?';
  const select = db
    .prepare<[number, number, number], Buffer>(`SELECT visitors FROM segment_visitors WHERE ${key}`)
    .pluck();
  const update = db.prepare(`UPDATE segment_visitors SET visitors = ? WHERE ${key}`);
  const drop = db.prepare(`DELETE FROM segment_visitors WHERE ${key}`);

  return {
    remove(events) {
      const [first, last] = [events[0], events.at(-1)];
      if (!first || !last) return;
      for (const { segment, after, through } of segments.all(first.sequence - 1, last.sequence)) {
        const kinds = new Map<string, Gone>();
        for (const event of events) {
          if (event.sequence <= after || event.sequence > through) continue;
          const { account, eventID, eventTime } = event;
          const name = `${account} ${eventID}`;
          const gone = kinds.get(name) ?? { account, eventID, visitors: new Map() };
          kinds.set(name, gone);
          addVisitor(gone.visitors, eventTime, holderOf(event));
        }
        for (const { account, eventID, visitors } of kinds.values()) {
          const rest = withoutVisitors(select.get(segment, account, eventID) as Buffer, visitors);
          if (rest.length > 0) update.run(rest, segment, account, eventID);
          else drop.run(segment, account, eventID);
        }
      }
    },
  };
};
