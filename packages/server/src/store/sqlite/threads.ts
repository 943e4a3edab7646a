/** The threads of a store, of which some may have begun before anybody knows which database they are for. */
import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { beginThread, type UnopenedThread } from './thread.ts';

export type ThreadName = 'writer-thread' | 'reader-thread';

/** For each of so many processes: all together about as many as there are processors beside the one that writes. */
export const readerCountOf = (processes: number): number =>
  Math.max(1, Math.min(4, Math.floor((availableParallelism() - 1) / processes)));

const readerCount = readerCountOf(1);

/** `.ts` from the sources, `.cjs` in a built server, where the threads are built files as well. */
const ownExtension = extname(new URL(import.meta.url).pathname);

const begun: Record<ThreadName, UnopenedThread[]> = { 'writer-thread': [], 'reader-thread': [] };

/**
 * What is to be kept goes before what is to be read: on two processors, 20 clients that page back to back then hold an event up
 * for a third as long.
 */
const nicenesses: Record<ThreadName, number> = { 'writer-thread': 0, 'reader-thread': 10 };

const begin = (name: ThreadName): UnopenedThread =>
  beginThread(new URL(`./${name}${ownExtension}`, import.meta.url), nicenesses[name]);

/** Begins all that a server needs: to start a thread and load what it runs takes longest of a start. */
export const beginThreads = (): void => {
  begun['writer-thread'].push(begin('writer-thread'));
  for (let nth = 0; nth < readerCount; nth += 1) begun['reader-thread'].push(begin('reader-thread'));
};

/** One that has begun, or else begins now. */
export const takeThread = (name: ThreadName): UnopenedThread => begun[name].pop() ?? begin(name);

/** Ends those that nobody took. */
export const dismissThreads = (): void => {
  for (const threads of Object.values(begun)) for (const thread of threads.splice(0)) thread.dismiss();
};
