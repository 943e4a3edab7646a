/** Replays a refused request after a fix: runs the steps of its operation's route, starting with validation. */
import { check } from '@firsthand/contract/checking';
import { type Operation, type OutputOf, operations } from '@firsthand/contract/operations';
import { isLive } from '../../ingest/token.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { ListedToken, RefusableOperation, RefusedRequest, ReplayedWrite, Store } from '../../store/store.ts';
import { type Caller, type Handler, withoutAccountSettings } from '../access/caller.ts';
import { refusalOf } from '../operation-route.ts';
import { createContacts } from '../operations/contacts.ts';
import { checkEntries, createLogEvent } from '../operations/log-event.ts';
import { createRequestContexts } from '../operations/request-context.ts';
import { parseObject } from '../request/input.ts';

/** Returns the refusal for a request that is not on the list, or no longer on it. */
export const unknownRefusedRequest = (): Refusal => new Refusal('unknown_refused', { field: 'refusedID' });

/** Wraps the store so that each write also removes the refused request from its list, in the same transaction. */
const toReplayStore = (
  store: Store,
  { by, ...target }: { refused: number; tokenID: string; by: number | null },
): Store => {
  const replay = async (write: ReplayedWrite) => {
    const response = await store.replayRefused({ ...target, by, ...write });
    // Another caller replayed the request, or newer requests evicted it from the list.
    if (response === undefined) throw unknownRefusedRequest();
    // The cast is safe: the result has the type of the operation in `write`.
    return response as never;
  };
  return {
    ...store,
    logEvents: (request) => replay({ write: 'logEvents', request }),
    createContact: (request) => replay({ write: 'createContact', request }),
    updateContact: (request) => replay({ write: 'updateContact', request }),
  };
};

/**
 * Returns the token to use: the request's own token, or the token with the tokenID `as`. It must be live, and belong to
 * the same account and kind.
 */
const findToken = async (
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
        : `the token must be a live ${tokenKind} token of the account, like the one that the request was sent with`,
  });
};

/** Returns the caller of the replayed request. The token's text is stored only for browser tokens, which are public. */
const callerOf = (request: RefusedRequest, token: ListedToken, time: number): Caller => ({
  access: {
    token: token.token,
    tokenID: token.tokenID,
    kind: token.kind,
    account: request.account,
    ...withoutAccountSettings,
  },
  tokenUUID: token.text ?? '',
  time,
  refusedTime: request.refusedTime,
  // Only the bot mark was stored, and no labels.
  agent: () => ({ robot: request.robot, labels: [] }),
});

interface ReplayOptions {
  /** The fields that replace fields of the request. */
  readonly fix?: Readonly<Record<string, unknown>> | undefined;
  /** The tokenID of the token to use instead of the request's own. */
  readonly as?: string | undefined;
  readonly time: number;
  /** The number of the token that requests the replay; null for the command line. */
  readonly by?: number | null;
}

/**
 * Returns a function that replays a refused request with its original eventUUID, eventTime and token. If that token is
 * no longer live, `as` must be the tokenID of a live token.
 *
 * A request that succeeds is removed from the list in the same transaction. If it or one of its events is refused
 * again, the function rejects with the Refusal, and the request stays on the list.
 */
export const createReplay = (store: Store) => {
  const createOperations = (target: {
    refused: number;
    tokenID: string;
    by: number | null;
  }): { readonly [Name in RefusableOperation]: Handler<Name> } => {
    const replayStore = toReplayStore(store, target);
    const contextOf = createRequestContexts();
    const { logEvent, logEvents } = createLogEvent(replayStore, { contextOf });
    return {
      ...createContacts(replayStore),
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
  ): Promise<OutputOf<RefusableOperation>> => {
    const { operation, refused, input } = request;
    const fields = typeof input === 'string' ? fieldsOf(input, fix) : input;
    const definition: Operation = operations[operation];
    const checked = check(definition.input, { ...fields, ...fix });
    if (!checked.ok) throw refusalOf(checked.problem);
    const token = await findToken(store, request, { as, time });
    const run = createOperations({ refused, tokenID: token.tokenID, by })[operation] as Handler<RefusableOperation>;
    return run(checked.value as never, callerOf(request, token, time));
  };
};

/** Parses the text of an unparseable request, in case a newer version can. Otherwise `fix` must contain all fields. */
const fieldsOf = (text: string, fix: object): Readonly<Record<string, unknown>> => {
  try {
    return parseObject(text);
  } catch (error) {
    if (error instanceof Refusal && Object.keys(fix).length > 0) return {};
    throw error;
  }
};
