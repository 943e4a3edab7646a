/** How the first process counts for its workers. */
import type { CountingForAll } from '../http/counting.ts';
import { Refusal } from '../refusal.ts';
import type { Ask, Counts } from './messages.ts';

/** What counts for one of the workers. */
export interface WorkerCounts {
  answer(asks: readonly Ask[]): Counts[];
  /** It has ended: its streams have as well. */
  end(): void;
}

export const createWorkerCounts = (counting: CountingForAll): WorkerCounts => {
  const { addressOf, senderOf, takeBrowserLimits, unknownTokens, streamPlaces, clockErrorOf } = counting;
  /** The accounts of its streams, once for each. */
  const streams: number[] = [];

  const count = (ask: Ask): number | undefined => {
    switch (ask.count) {
      case 'call':
        takeBrowserLimits(ask.network, ask.counted);
        return undefined;
      case 'guess':
        unknownTokens.take(addressOf(ask.network));
        return undefined;
      case 'no guess':
        unknownTokens.giveBack(addressOf(ask.network));
        return undefined;
      case 'sender':
        return senderOf(ask.network);
      case 'stream':
        streamPlaces.enter(ask.account);
        streams.push(ask.account);
        return undefined;
      case 'end of stream':
        streams.splice(streams.indexOf(ask.account), 1);
        streamPlaces.leave(ask.account);
        return undefined;
      case 'clock':
        return clockErrorOf(ask.browser, ask.lateMilliseconds);
    }
  };

  return {
    answer: (asks) =>
      asks.map((ask) => {
        try {
          return count(ask);
        } catch (error) {
          if (error instanceof Refusal) return { retryAfterSeconds: error.retryAfterSeconds ?? 1 };
          throw error;
        }
      }),
    end() {
      for (const account of streams.splice(0)) streamPlaces.leave(account);
    },
  };
};
