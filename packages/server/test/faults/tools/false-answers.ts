/** Which answers told of events that might not have been on the disk yet. */
import { isAnswer, isSync, type TracedCall } from './tracing.ts';

/** The options with which strace tells all that is needed, pages and answers whole. */
export const answerOptions = ['-s', '4096', '-e', 'trace=fsync,fdatasync,pwrite64,write,writev,sendto,sendmsg'];

/**
 * The events that a call names, as ledger.ts names them. A page names one that was kept by a commit of its own, or that has its
 * name in a value as well: what the names of several have in common stands once.
 */
const eventsIn = ({ text }: TracedCall): readonly string[] => text.match(/event_\d{10}/g) ?? [];

const isFrame = ({ text }: TracedCall): boolean => /^pwrite64\(\d+<[^>]*-wal>.* = \d+$/.test(text);
/** Not of standard error, say, which may be a socket: that can't be synced. */
const isFailedSync = ({ text }: TracedCall): boolean => /^f(?:data)?sync\(\d+<\/.* = -1 /.test(text);

/** The events that were told to be kept. */
export const eventsToldIn = (calls: readonly TracedCall[]): ReadonlySet<string> =>
  new Set(calls.filter(isAnswer).flatMap(eventsIn));

/**
 * The answers that tell of an event whose commit was not known to be synced when they began. What syncs it is a sync of the
 * log that begins behind the frame in which the event is written first: SQLite syncs a commit once, behind its last frame. Once
 * a sync has failed, of whatever file, no later one is proof: the kernel may have dropped what it could not write and call it
 * written (fsyncgate), and of the log nothing is read behind a gap.
 */
export const findFalseAnswers = (calls: readonly TracedCall[]): TracedCall[] => {
  const failed = Math.min(...calls.filter(isFailedSync).map(({ began }) => began));
  const syncs = calls.filter((call) => isSync(call) && call.ended < failed);
  const written = new Map<string, number>();
  for (const frame of calls.filter(isFrame)) {
    for (const event of eventsIn(frame)) if (!written.has(event)) written.set(event, frame.ended);
  }
  const isSynced = (event: string, before: number) =>
    syncs.some(({ began, ended }) => began > (written.get(event) ?? Infinity) && ended < before);
  return calls.filter((call) => isAnswer(call) && !eventsIn(call).every((event) => isSynced(event, call.began)));
};
