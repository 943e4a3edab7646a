/** A person's history: sessions, links and merges in chronological order. Pure functions. */
import type { ResponseFor } from '@firsthand/client';
import type { LoggedEvent } from '../../parts/event-line.tsx';

export type Link = NonNullable<ResponseFor<'getContact'>['link']>[number];
type Merge = NonNullable<ResponseFor<'getContact'>['merge']>[number];

/** The pause that ends a session, the same as in reports. */
const pauseMs = 30 * 60_000;

export interface Session {
  readonly kind: 'session';
  readonly userUUID: string;
  /** Newest first. */
  readonly events: readonly LoggedEvent[];
  readonly fromMs: number;
  readonly toMs: number;
}

export interface LinkEntry {
  readonly kind: 'link';
  readonly link: Link;
  readonly atMs: number;
  /** Whether this was the browser's first valid link, which identified the visitor. */
  readonly isRecognition: boolean;
  /** Whether the browser no longer belongs to the person. */
  readonly isFormer: boolean;
}

/** A merge of another contact into this person's contact. */
export interface MergeEntry {
  readonly kind: 'merge';
  readonly merge: Merge;
  readonly atMs: number;
}

type Entry = Session | LinkEntry | MergeEntry;

/** Groups events into sessions per browser. */
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
    const newSession = { userUUID: event.userUUID, events: [event], fromMs: timeMs, toMs: timeMs };
    sessions.push(newSession);
    open.set(event.userUUID, newSession);
  }
  return sessions.map((session) => ({ kind: 'session', ...session }));
};

/** `links` contains the links to the contact and to all contacts merged into it, oldest first. */
export const toLinkEntries = (links: readonly Link[]): LinkEntry[] => {
  const before = new Set<string>();
  const current = new Set(browsersOf(links).map(({ userUUID }) => userUUID));
  return links.map((link) => {
    const isRecognition = !link.voided && !before.has(link.userUUID);
    if (!link.voided) before.add(link.userUUID);
    const isFormer = !link.voided && !current.has(link.userUUID);
    return { kind: 'link', link, atMs: Date.parse(link.linkTime), isRecognition, isFormer };
  });
};

export const toMergeEntries = (merges: readonly Merge[]): MergeEntry[] =>
  merges.map((merge) => ({ kind: 'merge', merge, atMs: Date.parse(merge.mergedTime) }));

/** The time by which an entry is sorted. */
export const timeOf = (entry: Entry): number => (entry.kind === 'session' ? entry.toMs : entry.atMs);

/**
 * The history, newest first. Links and merges from before the oldest loaded event appear once older events are loaded.
 */
export const toHistory = (
  sessions: readonly Session[],
  marks: readonly (LinkEntry | MergeEntry)[],
  isWhole: boolean,
): Entry[] => {
  const oldest = Math.min(...sessions.map(({ fromMs }) => fromMs));
  const present = marks.filter(({ atMs }) => isWhole || atMs >= oldest);
  return [...sessions, ...present].toSorted((a, b) => timeOf(b) - timeOf(a));
};

/** Whether a link covers earlier events from its browser. True until all events are loaded. */
export const reachesBack = ({ link }: LinkEntry, sessions: readonly Session[], isWhole: boolean): boolean =>
  !isWhole ||
  sessions.some(
    ({ userUUID, events }) => userUUID === link.userUUID && events.some(({ why }) => why?.rule === 'reached back'),
  );

/** A number for each browser that was ever linked to the person, starting with 1 for the first one. */
export const numbersOf = (links: readonly Link[]): ReadonlyMap<string, number> => {
  const browsers = new Set(links.map(({ userUUID }) => userUUID));
  return new Map([...browsers].map((userUUID, index) => [userUUID, index + 1]));
};

/** The person's current links, one per browser. */
export const browsersOf = (links: readonly Link[]): Link[] => links.filter(({ current }) => current);
