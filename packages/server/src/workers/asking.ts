/** How a worker counts: it asks the first process, which counts for all of them. */

import { createNetworkOf } from '../http/client-address.ts';
import type { Counting } from '../http/counting.ts';
import type { ClockErrorOf } from '../ingest/clock-errors.ts';
import { Refusal } from '../refusal.ts';
import type { Ask, Counts } from './messages.ts';

interface Asking extends Counting {
  /** To be called with what the first process answers, in the order of what it was sent. */
  answered(counts: readonly Counts[]): void;
}

/** What is asked within a turn of the event loop is sent together. */
export const createAsking = (trustProxy: readonly string[], send: (asks: readonly Ask[]) => void): Asking => {
  type Waiting = (counts: Counts) => void;
  let asks: Ask[] = [];
  let waiting: Waiting[] = [];
  const underWay: Waiting[][] = [];

  const flush = () => {
    send(asks);
    underWay.push(waiting);
    asks = [];
    waiting = [];
  };

  const ask = (one: Ask): Promise<Counts> =>
    new Promise((resolve, reject) => {
      if (asks.length === 0) setImmediate(flush);
      asks.push(one);
      waiting.push((counts) => {
        if (typeof counts === 'object') reject(new Refusal('too_many_requests', counts));
        else resolve(counts);
      });
    });
  const count = async (one: Ask): Promise<void> => {
    await ask(one);
  };

  const networkOf = createNetworkOf(trustProxy);
  return {
    addressOf: networkOf,
    senderOf: async (c) => (await ask({ count: 'sender', network: networkOf(c) })) as number,
    takeBrowserLimits: (c, counted) => count({ count: 'call', network: networkOf(c), counted }),
    unknownTokens: {
      take: (network) => count({ count: 'guess', network }),
      giveBack: (network) => void count({ count: 'no guess', network }),
    },
    streamPlaces: {
      enter: (account) => count({ count: 'stream', account }),
      leave: (account) => count({ count: 'end of stream', account }),
    },
    clockErrorOf: async (browser, lateMilliseconds): Promise<ReturnType<ClockErrorOf>> =>
      (await ask({ count: 'clock', browser, lateMilliseconds })) as number,
    answered(counts) {
      underWay.shift()?.forEach((answer, index) => {
        answer(counts[index]);
      });
    },
  };
};
