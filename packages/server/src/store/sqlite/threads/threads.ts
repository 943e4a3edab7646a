/** The kinds of threads of a store. */
import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import type { Opening } from './messages.ts';
import { type OnCommit, type StartedThread, startThread } from './thread.ts';

/** One reader for each processor beside the writer's: at least 1, at most 4. */
export const readerCount = Math.max(1, Math.min(4, availableParallelism() - 1));

/** `.ts` when the sources run; `.cjs` in a built server, where the threads are built files too. */
const ownExtension = extname(new URL(import.meta.url).pathname);

type OnFatal = (error: Error) => void;

export const startWriter = (opening: Opening, onFatal: OnFatal, onCommit: OnCommit): StartedThread =>
  startThread(new URL(`./writer-thread${ownExtension}`, import.meta.url), { opening, niceness: 0, onFatal, onCommit });

/** Writes go before reads: on two processors, 20 clients that read page after page then delay an event only a third as long. */
export const startReader = (opening: Opening, onFatal: OnFatal): StartedThread =>
  startThread(new URL(`./reader-thread${ownExtension}`, import.meta.url), { opening, niceness: 10, onFatal });
