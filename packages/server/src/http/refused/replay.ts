/** Sends a refused request again after a fix: takes the steps of its operation's route, from the content check on. */
import { check } from '@firsthand/contract/checking';
import { type AnswerOf, type Operation, operations } from '@firsthand/contract/operations';
import { isLive } from '../../ingest/token.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { KeptOperation, ListedToken, RefusedRequest, ReplayedWrite, Store } from '../../store/store.ts';
import type { Answering, Caller } from '../access/caller.ts';
import { refusalOf } from '../operation-route.ts';
import { createContacts } from '../operations/contacts.ts';
import { checkEntries, createLogEvent } from '../operations/log-event.ts';
import { createRequestContexts } from '../operations/request-context.ts';
import { parseObject } from '../request/input.ts';

/** The refusal for a request that is not on the list, or not any more. */
export const unlisted = (): Refusal => new Refusal('unknown_refused', { field: 'refusedID' });

/** The store, except that each write also removes the refused request from its list in the same transaction. */
const replayingStore = (
  store: Store,
  { by, ...replayed }: { refused: number; tokenID: string; by: number | null },
): Store => {
  const replay = async (write: ReplayedWrite) => {
    const answer = await store.replayRefused({ ...replayed, by, ...write });
    // Somebody else has sent it, or newer ones replaced it.
    if (answer === undefined) throw unlisted();
    // The result belongs to the write in `write`.
    return answer as never;
  };
  return {
    ...store,
    logEvents: (request) => replay({ write: 'logEvents', request }),
    createContact: (request) => replay({ write: 'createContact', request }),
    updateContact: (request) => replay({ write: 'updateContact', request }),
  };
};

/** The token to use: the request's own, or the one that `as` names. Throws Refusal unless it is live, of this account and kind. */
const tokenFor = async (
  store: Pick<Store, 'listTokens'>,
  { account, tokenID, tokenKind }: RefusedRequest,
  { as = tokenID, time }: { as: string | undefined; time: number },
): Promise<ListedToken> => {
  const token = (await store.listTokens({ account })).find((each) => each.tokenID === as);
  if (token !== undefined && isLive(token, time) && token.kind === tokenKind) return token;
  throw new Refusal('invalid_token', {
    message:
      as === tokenID
        ? `its token ${tokenID} is revoked or has expired: name a live ${tokenKind} token of the account (--as, or tokenID)`
        : `the token must be a live ${tokenKind} token of the account, as the request came with one`,
  });
};

/** The caller that a request is sent again as. The token's text is known only for a browser token, which is public. */
const callerOf = (request: RefusedRequest, token: ListedToken, time: number): Caller => ({
  access: {
    token: token.token,
    tokenID: token.tokenID,
    kind: token.kind,
    account: request.account,
    accountOrigin: [],
    accountTimezone: 'UTC',
    enrich: false,
  },
  tokenUUID: token.text ?? '',
  time,
  refusedTime: request.refusedTime,
  // Only the mark of a robot was stored: the labels went with the request.
  agent: () => ({ robot: request.robot, labels: [] }),
});

interface ReplayOptions {
  /** Fields that replace those of the request. */
  readonly fix?: Readonly<Record<string, unknown>> | undefined;
  /** The tokenID of the token to use in place of its own. */
  readonly as?: string | undefined;
  readonly time: number;
  /** The number of the token that asks for it; null: the command line. */
  readonly by?: number | null;
}

/**
 * Returns a function that sends a refused request again, with the same eventUUID, the same eventTime and the same token, or with
 * the token that `as` names (required once the request's own is not live). `fix` replaces fields of the request. A request that
 * succeeds is removed from the list in the same transaction. If it or one of its events is refused again, the function throws the
 * Refusal and the request stays on the list.
 */
export const createReplay = (store: Store) => {
  const answerings = (replayed: {
    refused: number;
    tokenID: string;
    by: number | null;
  }): { readonly [Name in KeptOperation]: Answering<Name> } => {
    const replaying = replayingStore(store, replayed);
    const contextOf = createRequestContexts();
    const { logEvent, logEvents } = createLogEvent(replaying, { contextOf });
    return {
      ...createContacts(replaying),
      logEvent,
      logEvents: async (input, caller) => {
        for (const entry of checkEntries(input, contextOf(input, caller))) if ('code' in entry) throw refusalOf(entry);
        return logEvents(input, caller);
      },
    };
  };

  return async (
    request: RefusedRequest,
    { fix = {}, as, time, by = null }: ReplayOptions,
  ): Promise<AnswerOf<KeptOperation>> => {
    const { operation, refused, input } = request;
    const fields = typeof input === 'string' ? fieldsOf(input, fix) : input;
    const definition: Operation = operations[operation];
    const checked = check(definition.input, { ...fields, ...fix });
    if (!checked.ok) throw refusalOf(checked.problem);
    const token = await tokenFor(store, request, { as, time });
    const answering = answerings({ refused, tokenID: token.tokenID, by })[operation] as Answering<KeptOperation>;
    return answering(checked.value as never, callerOf(request, token, time));
  };
};

/** The fields of a request that could not be parsed: a newer version may parse it. Otherwise `fix` must hold all fields. */
const fieldsOf = (text: string, fix: object): Readonly<Record<string, unknown>> => {
  try {
    return parseObject(text);
  } catch (error) {
    if (error instanceof Refusal && Object.keys(fix).length > 0) return {};
    throw error;
  }
};
