/** Starts a store's threads. */
import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import type { Opening } from './messages.ts';
import { type OnCommit, type StartedThread, startThread } from './thread.ts';

/** One reader per CPU, minus one CPU for the writer; between 1 and 4. */
export const readerCount = Math.max(1, Math.min(4, availableParallelism() - 1));

/** The extension is `.ts` when run from source, and `.cjs` in a built server. */
const ownExtension = extname(new URL(import.meta.url).pathname);

type OnFatal = (error: Error) => void;

export const startWriter = (opening: Opening, onFatal: OnFatal, onCommit: OnCommit): StartedThread =>
  startThread(new URL(`./writer-thread${ownExtension}`, import.meta.url), { opening, niceness: 0, onFatal, onCommit });

/**
 * Readers have a lower priority, so that on two CPUs, 20 clients that read continuously delay an event by only a third
 * as much.
 */
export const startReader = (opening: Opening, onFatal: OnFatal): StartedThread =>
  startThread(new URL(`./reader-thread${ownExtension}`, import.meta.url), { opening, niceness: 10, onFatal });
