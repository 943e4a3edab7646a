/** Finds responses that acknowledged events before the events were certain to be on the disk. */
import { isResponse, isSync, type TracedCall } from './tracing.ts';

/** The options with which strace logs everything that this file needs, with complete pages and responses. */
export const straceOptions = ['-s', '4096', '-e', 'trace=fsync,fdatasync,pwrite64,write,writev,sendto,sendmsg'];

/**
 * The events that a call contains, in the format of ledger.ts. A page with several events stores the common part of
 * their names only once. It therefore shows an event's full name only if it has one event, or if a value repeats the
 * name (`ballast`).
 */
const eventsIn = ({ text }: TracedCall): readonly string[] => text.match(/event_\d{10}/g) ?? [];

const isFrameWrite = ({ text }: TracedCall): boolean => /^pwrite64\(\d+<[^>]*-wal>.* = \d+$/.test(text);
/**
 * Whether a sync failed. Only syncs of paths count: standard error, for example, can be a socket, which can't be
 * synced.
 */
const isFailedSync = ({ text }: TracedCall): boolean => /^f(?:data)?sync\(\d+<\/.* = -1 /.test(text);

/** The events that responses acknowledged. */
export const listAcknowledgedEvents = (calls: readonly TracedCall[]): ReadonlySet<string> =>
  new Set(calls.filter(isResponse).flatMap(eventsIn));

/**
 * Finds responses that began before the commit of one of their events was synced. A sync of the log counts if it began
 * after the event's first frame and ended before the response (SQLite syncs a commit once, after its last frame). After
 * a failed sync, later syncs prove nothing: the kernel can drop the dirty pages and report success (fsyncgate), and
 * SQLite reads no log beyond a gap.
 */
export const findEarlyResponses = (calls: readonly TracedCall[]): TracedCall[] => {
  const failed = Math.min(...calls.filter(isFailedSync).map(({ began }) => began));
  const syncs = calls.filter((call) => isSync(call) && call.ended < failed);
  const written = new Map<string, number>();
  for (const frame of calls.filter(isFrameWrite)) {
    for (const event of eventsIn(frame)) if (!written.has(event)) written.set(event, frame.ended);
  }
  const isSynced = (event: string, before: number) =>
    syncs.some(({ began, ended }) => began > (written.get(event) ?? Infinity) && ended < before);
  return calls.filter((call) => isResponse(call) && !eventsIn(call).every((event) => isSynced(event, call.began)));
};
