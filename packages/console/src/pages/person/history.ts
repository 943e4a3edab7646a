/** A person's history: events in sessions and days, with what was decided about their browsers between them. Pure functions. */
import type { AnswerFor } from '@firsthand/client';
import type { LoggedEvent } from '../../parts/event-line.tsx';

export type Link = NonNullable<AnswerFor<'getContact'>['link']>[number];
type Merge = NonNullable<AnswerFor<'getContact'>['merge']>[number];

/** The pause that ends a session, as reports count. */
const pauseMs = 30 * 60_000;

export interface Session {
  readonly kind: 'session';
  readonly userUUID: string;
  /** The newest first. */
  readonly events: readonly LoggedEvent[];
  readonly fromMs: number;
  readonly toMs: number;
}

/** A link, at its time in the history. */
export interface Turn {
  readonly kind: 'turn';
  readonly link: Link;
  readonly atMs: number;
  /** Whether it was the first to make the browser the person's: the moment of recognition. */
  readonly isRecognition: boolean;
  /** Whether the browser no longer belongs to the person. */
  readonly isFormer: boolean;
}

/** A contact that was merged into the person's, at that time in the history. */
export interface MergeTurn {
  readonly kind: 'merge';
  readonly merge: Merge;
  readonly atMs: number;
}

type Entry = Session | Turn | MergeTurn;

/** The events, newest first, in sessions: those of a browser without a pause. */
export const toSessions = (events: readonly LoggedEvent[]): Session[] => {
  const sessions: { userUUID: string; events: LoggedEvent[]; fromMs: number; toMs: number }[] = [];
  const open = new Map<string, (typeof sessions)[number]>();
  const inOrder = events.toSorted((a, b) => Date.parse(b.eventTime) - Date.parse(a.eventTime));
  for (const event of inOrder) {
    const timeMs = Date.parse(event.eventTime);
    const session = open.get(event.userUUID);
    if (session && session.fromMs - timeMs < pauseMs) {
      session.events.push(event);
      session.fromMs = timeMs;
      continue;
    }
    const begun = { userUUID: event.userUUID, events: [event], fromMs: timeMs, toMs: timeMs };
    sessions.push(begun);
    open.set(event.userUUID, begun);
  }
  return sessions.map((session) => ({ kind: 'session', ...session }));
};

/** What made browsers the person's. `links` are those to the contact and to all that are merged into it, oldest first. */
export const toTurns = (links: readonly Link[]): Turn[] => {
  const before = new Set<string>();
  const current = new Set(browsersOf(links).map(({ userUUID }) => userUUID));
  return links.map((link) => {
    const isRecognition = !link.voided && !before.has(link.userUUID);
    if (!link.voided) before.add(link.userUUID);
    const isFormer = !link.voided && !current.has(link.userUUID);
    return { kind: 'turn', link, atMs: Date.parse(link.linkTime), isRecognition, isFormer };
  });
};

export const toMergeTurns = (merges: readonly Merge[]): MergeTurn[] =>
  merges.map((merge) => ({ kind: 'merge', merge, atMs: Date.parse(merge.mergedTime) }));

/** Where an entry stands in the history. */
export const timeOf = (entry: Entry): number => (entry.kind === 'session' ? entry.toMs : entry.atMs);

/** All of it, newest first. Turns before the oldest event that was read come with the page that reaches them. */
export const toHistory = (
  sessions: readonly Session[],
  turns: readonly (Turn | MergeTurn)[],
  isWhole: boolean,
): Entry[] => {
  const oldest = Math.min(...sessions.map(({ fromMs }) => fromMs));
  const present = turns.filter(({ atMs }) => isWhole || atMs >= oldest);
  return [...sessions, ...present].toSorted((a, b) => timeOf(b) - timeOf(a));
};

/** Whether a link reaches back to earlier events of its browser. True until all events are loaded. */
export const reachesBack = ({ link }: Turn, sessions: readonly Session[], isWhole: boolean): boolean =>
  !isWhole ||
  sessions.some(
    ({ userUUID, events }) => userUUID === link.userUUID && events.some(({ why }) => why?.rule === 'reached back'),
  );

/** A number for each browser that was ever linked to the person: 1 for the one that was linked first. */
export const numbersOf = (links: readonly Link[]): ReadonlyMap<string, number> => {
  const browsers = new Set(links.map(({ userUUID }) => userUUID));
  return new Map([...browsers].map((userUUID, index) => [userUUID, index + 1]));
};

/** The browsers that are the person's now: each with the link that says so. */
export const browsersOf = (links: readonly Link[]): Link[] => links.filter(({ current }) => current);
