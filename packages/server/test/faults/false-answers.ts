/** Which answers told of events that might not have been on the disk yet. */
import { isAnswer, isSync, type TracedCall } from './tracing.ts';

/** The options with which strace tells all that is needed, pages and answers whole. */
export const answerOptions = ['-s', '4096', '-e', 'trace=fsync,fdatasync,pwrite64,write,writev,sendto,sendmsg'];

/**
 * The events that a call names, as ledger.ts names them. A page names one that was kept by a commit of its own, or that has its
 * name in a value as well: what the names of several have in common stands once.
 */
const eventsIn = ({ text }: TracedCall): readonly string[] => text.match(/event_\d{10}/g) ?? [];

const isWriteOfLog = ({ text }: TracedCall): boolean => /^pwrite64\(\d+<[^>]*-wal>/.test(text);
const isDone = ({ text }: TracedCall): boolean => / = \d+$/.test(text);
const headOfFrame = /"(.*)", 24, \d+\) = 24$/;

/** Where each event was there as a whole: its first commit ends with a frame whose head says how large the database is then. */
const findCommits = (calls: readonly TracedCall[]): ReadonlyMap<string, number> => {
  const ended = new Map<string, number>();
  let writing: string[] = [];
  let isLast = false;
  for (const call of calls.filter(isWriteOfLog)) {
    const head = headOfFrame.exec(call.text)?.[1];
    if (head !== undefined) {
      const bytes = head.match(/\\[0-7]{1,3}|\\?./g) ?? [];
      isLast = !bytes.slice(4, 8).every((byte) => /^\\0+$/.test(byte));
      continue;
    }
    // After one that fails, what was written of the commit is overwritten by the next.
    writing = isDone(call) ? [...writing, ...eventsIn(call)] : [];
    if (!isLast) continue;
    for (const event of writing) if (!ended.has(event)) ended.set(event, call.ended);
    writing = [];
  }
  return ended;
};

/** Not of standard error, say, which may be a socket: that can't be synced. */
const isFailedSync = ({ text }: TracedCall): boolean => /^f(?:data)?sync\(\d+<\/.* = -1 /.test(text);

/** The events that were told to be kept. */
export const eventsToldIn = (calls: readonly TracedCall[]): ReadonlySet<string> =>
  new Set(calls.filter(isAnswer).flatMap(eventsIn));

/**
 * The answers that tell of an event whose commit was not known to be synced when they began. What syncs it is a sync of the
 * log that begins behind the last frame of the commit that writes the event first. Once a sync has failed, of whatever file, no
 * later one is proof: the kernel may have dropped what it could not write and call it written (fsyncgate), and of the log
 * nothing is read behind a gap.
 */
export const findFalseAnswers = (calls: readonly TracedCall[]): TracedCall[] => {
  const failed = Math.min(...calls.filter(isFailedSync).map(({ began }) => began));
  const syncs = calls.filter((call) => isSync(call) && call.ended < failed);
  const commits = findCommits(calls);
  const isSynced = (event: string, before: number) =>
    syncs.some(({ began, ended }) => began > (commits.get(event) ?? Infinity) && ended < before);
  return calls.filter((call) => isAnswer(call) && !eventsIn(call).every((event) => isSynced(event, call.began)));
};
