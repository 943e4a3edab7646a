/** Sending a refused request again, after a fix: what the route of its operation does, from the check of its content on. */
import { check } from '@firsthand/contract/checking';
import { type AnswerOf, type Operation, operations } from '@firsthand/contract/operations';
import { Refusal } from '../refusal.ts';
import { isLive } from '../store/live-token.ts';
import type { KeptOperation, ListedToken, RefusedRequest, ReplayedWrite, Store } from '../store/store.ts';
import { createArrivalOf } from './arrival.ts';
import type { Answering, Caller } from './caller.ts';
import { createContacts } from './contacts.ts';
import { checkEntries, createEvents } from './events.ts';
import { parseObject } from './json.ts';
import { refusalOf } from './operation-route.ts';

/** It isn't on the list any more: somebody else has sent it, or it had to give way. */
export class NotListed extends Error {
  override readonly name = 'NotListed';
}

/** The store, except that a write takes the refused request off its list in the same transaction. */
const replayingStore = (store: Store, { refused, tokenID }: { refused: number; tokenID: string }): Store => {
  const replay = async (write: ReplayedWrite) => {
    const answer = await store.replayRefused({ refused, tokenID, ...write });
    if (answer === undefined) throw new NotListed(`the request ${refused} is not on the list any more`);
    // The answer is of the write that was asked for.
    return answer as never;
  };
  return {
    ...store,
    logEvents: (request) => replay({ write: 'logEvents', request }),
    createContact: (request) => replay({ write: 'createContact', request }),
    updateContact: (request) => replay({ write: 'updateContact', request }),
  };
};

/** The live token as which a request is sent again: its own, or the one of the same account and kind that `as` names. */
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
        ? `its token ${tokenID} is revoked or has expired: name with --as a live ${tokenKind} token of the account`
        : `--as must name a live ${tokenKind} token of the account, as the request came with one`,
  });
};

/** As a token of which the text is known only where it is a browser's, which is public. */
const callerOf = (request: RefusedRequest, token: ListedToken, time: number): Caller => ({
  access: {
    token: token.token,
    tokenID: token.tokenID,
    kind: token.kind,
    account: request.account,
    accountOrigin: [],
    accountTimezone: 'UTC',
  },
  tokenUUID: token.text ?? '',
  time,
  refusedTime: request.refusedTime,
  isRobot: () => request.robot,
});

/**
 * Sends refused requests again: the same eventUUID, the same time of happening, the same token, or with `as` another live one
 * of the same kind, which one whose own token is not live any more takes. `fix` stands in place of fields of the request. One that is carried out leaves the list in the same transaction; one that is refused, or
 * of which a single event is, throws the Refusal and stays as it is.
 */
export const createReplay = (store: Store) => {
  const answerings = (refused: number, tokenID: string): { readonly [Name in KeptOperation]: Answering<Name> } => {
    const replaying = replayingStore(store, { refused, tokenID });
    const arrivalOf = createArrivalOf();
    const events = createEvents(replaying, arrivalOf);
    return {
      ...createContacts(replaying),
      logEvent: events.logEvent,
      logEvents: async (input, caller) => {
        for (const entry of checkEntries(input, await arrivalOf(input, caller)))
          if ('code' in entry) throw refusalOf(entry);
        return events.logEvents(input, caller);
      },
    };
  };

  return async (
    request: RefusedRequest,
    { fix = {}, as, time }: { fix?: Readonly<Record<string, unknown>>; as?: string | undefined; time: number },
  ): Promise<AnswerOf<KeptOperation>> => {
    const { operation, refused, input } = request;
    const fields = typeof input === 'string' ? fieldsOf(input, fix) : input;
    const definition: Operation = operations[operation];
    const checked = check(definition.input, { ...fields, ...fix });
    if (!checked.ok) throw refusalOf(checked.problem);
    const token = await tokenFor(store, request, { as, time });
    const answering = answerings(refused, token.tokenID)[operation] as Answering<KeptOperation>;
    return answering(checked.value as never, callerOf(request, token, time));
  };
};

/** Text that was no fields may be some now; if not, the fix has to be all of them. */
const fieldsOf = (text: string, fix: object): Readonly<Record<string, unknown>> => {
  try {
    return parseObject(text);
  } catch (error) {
    if (error instanceof Refusal && Object.keys(fix).length > 0) return {};
    throw error;
  }
};
