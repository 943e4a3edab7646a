import { limits } from '@firsthand/contract/limits';
import type { Problem } from '@firsthand/contract/response';
import { Refusal } from '../../../shared/refusal.ts';
import type { RefusedCount, RefusedRequest, Store } from '../../../store/store.ts';
import { actorOf, type Handlers, namedAccount } from '../../access/caller.ts';
import { createReplay, unknownRefusedRequest } from '../../refused/replay.ts';
import { parseCursor, toCursor } from '../../responses/cursor.ts';
import { isoTime } from '../../responses/iso-time.ts';

const problemOf = ({ code, message, field }: Problem) => ({ code, message, ...(field && { field }) });

const requestResponse = ({
  refused,
  refusedTime,
  operation,
  tokenID,
  tokenKind,
  robot,
  ...request
}: RefusedRequest) => ({
  refusedID: String(refused),
  refusedTime: isoTime(refusedTime),
  ...{ operation, tokenID, tokenKind, robot },
  problem: problemOf(request),
  request: request.input,
});

/** Returns the sum of all tokens' counts. */
const sumOf = (counts: readonly RefusedCount[]) => {
  const sum = { listed: 0, evicted: 0, erased: 0, replayed: 0 };
  for (const each of counts)
    for (const name of ['listed', 'evicted', 'erased', 'replayed'] as const) sum[name] += each[name];
  return sum;
};

export const createRefused = (store: Store): Handlers<'listRefused' | 'replayRefused' | 'discardRefused'> => {
  const replay = createReplay(store);
  /**
   * Returns the account's refused request with this ID. Rejects with Refusal('unknown_refused') if it is not listed.
   */
  const find = async (account: number, refusedID: string): Promise<RefusedRequest> => {
    const refused = /^\d{1,15}$/.test(refusedID) ? Number(refusedID) : 0;
    const { requests } = await store.listRefused({ account, beyond: refused - 1, limit: 1 });
    const [request] = requests;
    if (request?.refused !== refused) throw unknownRefusedRequest();
    return request;
  };
  return {
    listRefused: async ({ accountUUID, limit = limits.refusedPerPage, cursor }, caller) => {
      const account = await namedAccount(store, caller, accountUUID);
      const beyond = parseCursor('refused', cursor) ?? 0;
      const { requests, next } = await store.listRefused({ account, beyond, limit });
      const count = sumOf(await store.countRefused({ account }));
      return { refused: requests.map(requestResponse), count, nextCursor: toCursor('refused', next) };
    },

    discardRefused: async ({ accountUUID, refusedID }, caller) => {
      const account = await namedAccount(store, caller, accountUUID);
      const { refused } = await find(account, refusedID);
      const { time } = caller;
      if (!(await store.discardRefused({ account, refused, time, by: actorOf(caller) }))) throw unknownRefusedRequest();
      return { refusedID };
    },

    replayRefused: async ({ accountUUID, refusedID, fix, tokenID }, caller) => {
      const account = await namedAccount(store, caller, accountUUID);
      const request = await find(account, refusedID);
      try {
        await replay(request, { fix, as: tokenID, time: caller.time, by: actorOf(caller) });
        return { refusedID, replayed: true };
      } catch (error) {
        if (!(error instanceof Refusal) || error.code === 'unavailable' || error.code === 'unknown_refused')
          throw error;
        return { refusedID, replayed: false, problem: problemOf(error) };
      }
    },
  };
};
