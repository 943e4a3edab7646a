/** The thread that writes: each message is one commit, and what arrives meanwhile goes together into the next. */
import { dirname } from 'node:path';
import type { Arrangement } from './arrangement.ts';
import type { Call } from './calls.ts';
import { openConnection } from './connection.ts';
import { createWriteEngine } from './engine.ts';
import { syncDirectory } from './file.ts';
import {
  type Answer,
  fromFlat,
  type ParcelsAnswer,
  type ParcelsRequest,
  type PlainOutcome,
  type Port,
  type Reply,
  type Request,
  toFlatAnswer,
  toPlain,
} from './messages.ts';
import { packOutcomes, unpackCalls } from './parcels.ts';

/** The calls of a request, and how it is answered. */
const readRequest = (
  request: Request | ParcelsRequest,
): { calls: readonly Call[]; toReply: (outcomes: readonly PlainOutcome[]) => Answer | ParcelsAnswer } => {
  const { id } = request;
  if ('calls' in request) {
    const calls = request.calls.map(fromFlat);
    const toAnswer = (outcome: PlainOutcome, index: number) => toFlatAnswer(calls[index] as Call, outcome);
    return { calls, toReply: (outcomes) => ({ id, outcomes: outcomes.map(toAnswer) }) };
  }
  const parcels = request.parcels.map(unpackCalls);
  return {
    calls: parcels.flat(),
    toReply: (outcomes) => {
      let from = 0;
      const packNext = (calls: readonly Call[]) => {
        from += calls.length;
        return packOutcomes(calls, outcomes.slice(from - calls.length, from));
      };
      return { id, parcels: parcels.map(packNext) };
    },
  };
};

/** Opens the database at `path`, and answers what comes through the port until that is closed. */
export const start = (port: Port, path: string, arrangement?: Arrangement): void => {
  const db = openConnection(path, 'serve');
  const engine = createWriteEngine(db, arrangement);
  engine.eraseAgain();
  while (engine.catchUp());
  // The log is there by now. SQLite syncs its folder too, but takes no notice when that fails (os_unix.c, unixSync).
  syncDirectory(dirname(path));

  /** Ends the thread when it can no longer be known what is on the disk. */
  const orDie = <Value>(work: () => Value): Value => {
    try {
      return work();
    } catch (error) {
      port.postMessage({ fatal: (error as Error).message } satisfies Reply);
      // Not closed: closing would write.
      port.close();
      throw error;
    }
  };

  /** The next step of tidying up, when there is one. */
  let tidying: NodeJS.Timeout | undefined;
  const tidyAfter = (milliseconds: number) => {
    tidying = setTimeout(() => {
      tidying = undefined;
      const rest = orDie(() => engine.tidy());
      if (rest !== null) tidyAfter(rest);
    }, milliseconds);
  };

  port.on('message', (message: Request | ParcelsRequest | 'close') => {
    if (message === 'close') {
      clearTimeout(tidying);
      db.close();
      port.close();
      return;
    }
    const { calls, toReply } = readRequest(message);
    const outcomes = orDie(() => engine.write(calls)).map(toPlain);
    const reply = toReply(outcomes);
    port.postMessage(reply, 'parcels' in reply ? reply.parcels.map(({ buffer }) => buffer) : []);
    orDie(() => engine.catchUp());
    if (tidying === undefined) tidyAfter(0);
  });
  tidyAfter(0);
};
