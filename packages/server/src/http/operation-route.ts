/** The steps of every operation: read, authenticate, check the right, check the content, count, respond; store a refused write. */
import type { Problem } from '@firsthand/contract/answer';
import { type Checked, check, createFindUnknown, refuseUnknown } from '@firsthand/contract/checking';
import { limits } from '@firsthand/contract/limits';
import { type InputOf, isRead, type Operation, type OperationName, operations } from '@firsthand/contract/operations';
import type { Context } from 'hono';
import { Refusal } from '../refusal.ts';
import type { Access, NewRefusedRequest, Store } from '../store/store.ts';
import { storedBytes } from './access/added-bytes.ts';
import { tokenOf } from './access/authentication.ts';
import type { Answering, AnsweringAll, Caller } from './access/caller.ts';
import type { Counted, TakeBrowserLimits } from './access/rate-limits.ts';
import { checkRight } from './access/rights.ts';
import { type AnswerHeaders, type Exchange, jsonAnswer } from './answers/answers.ts';
import {
  isKeptCode,
  isKeptOperation,
  refusedBatch,
  refusedRequest,
  unparsedRequest,
} from './refused/refused-requests.ts';
import type { ReadingRoute } from './request/admission.ts';
import { type Given, readInput } from './request/input.ts';
import type { BudgetOf } from './request/parsing-budget.ts';
import { logsNothing } from './request/prefetch.ts';
import { createIsRobot } from './request/robots.ts';
import { Unparsed } from './request/unparsed.ts';

/** A request that passed all checks. */
interface AcceptedRequest<Name extends OperationName> {
  readonly c: Context;
  readonly exchange: Exchange;
  readonly input: InputOf<Name>;
  readonly caller: Caller;
  /** The fields that the operation doesn't know. */
  readonly ignored: readonly string[];
}

export type Reply<Name extends OperationName> = (request: AcceptedRequest<Name>) => Promise<Response> | Response;

/** A successful JSON response: `answer`, `ignored` and `status`. A spread instead of Object.assign costs 1 µs more (Node 20). */
export const successAnswer = (
  exchange: Exchange,
  answer: object,
  ignored: readonly string[],
  more?: AnswerHeaders,
): Response =>
  jsonAnswer(exchange, Object.assign({}, answer, ignored.length > 0 && { ignored }, { status: '200' }), more);

const jsonReply =
  <Name extends OperationName>(answering: Answering<Name>): Reply<Name> =>
  async ({ exchange, input, caller, ignored }) =>
    successAnswer(exchange, await answering(input, caller), ignored);

export const jsonReplies = <Names extends OperationName>(answering: AnsweringAll<Names>) =>
  Object.fromEntries(
    Object.entries<Answering<Names>>(answering).map(([name, answer]) => [name, jsonReply(answer)]),
  ) as { readonly [Name in Names]: Reply<Name> };

/** Returns a function that lists the fields of a request that the operation does not know. */
const createIgnoredFields = ({ input, entries = {} }: Operation) => {
  const findUnknown = createFindUnknown(input);
  const lists = Object.entries(entries).map(([name, schema]) => ({
    name,
    findUnknown: createFindUnknown(schema.array()),
  }));
  return (given: Given): string[] => {
    const found = findUnknown(given);
    for (const { name, findUnknown } of lists) findUnknown(given[name], name, found);
    return found;
  };
};

/** Returns the check of a request's content. Unknown fields are an error in a read. */
const createCheckContent = (name: OperationName, operation: Operation) => {
  const { input } = operation;
  if (!isRead(operation)) return (given: Given) => check(input, given);
  return (given: Given): Checked<unknown> => {
    const problem = refuseUnknown(name, input, given);
    return problem ? { ok: false, problem } : check(input, given);
  };
};

export const refusalOf = ({ code, message, field }: Problem): Refusal =>
  new Refusal(code, { message, ...(field !== undefined && { field }) });

interface CountedFields {
  readonly userUUID?: string;
  readonly contactUUID?: string;
  readonly event?: readonly unknown[];
}

/** The cost of a call for the rate limits. A call with invalid content counts too. */
const counted = (name: OperationName, { token }: Access, given: Given, checked: Checked<unknown>): Counted => {
  const input: CountedFields = checked.ok ? (checked.value as CountedFields) : {};
  return {
    token,
    user: input.userUUID ?? input.contactUUID,
    events: name === 'logEvents' ? (input.event?.length ?? 1) : 1,
    bytes: storedBytes(name, given, input.event),
    createsContact: name === 'createContact',
  };
};

/** The operations that an account over its quota may not call. The others read, change or erase existing data. */
const bringingNewData: readonly OperationName[] = ['logEvent', 'logEvents', 'createContact'];
const bringsNewData = (name: OperationName): boolean => bringingNewData.includes(name);
/** Long, because the quota stays exceeded until somebody acts. */
const retryQuotaSeconds = 3_600;

interface OperationSurroundings {
  readonly authenticate: (token: string, c: Context) => Promise<Access>;
  readonly budgetOf: BudgetOf;
  readonly takeBrowserLimits: TakeBrowserLimits;
  /** Called with each request that counts against a rate limit. */
  readonly noticeProxy: (c: Context) => void;
  readonly senderOf: (c: Context) => number;
  /** Whether an account has reached its quota, so that new data is refused. */
  readonly isOverQuota: (account: number) => boolean;
  readonly keepRefused: Store['keepRefused'];
  readonly now: () => number;
}

/** Stands for the content of a request that could not be parsed. */
const unread: Checked<unknown> = { ok: false, problem: { code: 'invalid_json', message: '' } };

export const createOperationRoute = ({
  authenticate,
  budgetOf,
  takeBrowserLimits,
  noticeProxy,
  senderOf,
  isOverQuota,
  keepRefused,
  now,
}: OperationSurroundings) => {
  const isRobot = createIsRobot();
  /** Stores a refused request. This happens before the response: if it fails, the response is 503 instead. */
  const keep = async (request: NewRefusedRequest, caller: Caller) => {
    if (caller.access.account === null || !isKeptCode(request.code)) return;
    await keepRefused(refusedBatch(caller, [request]));
  };

  return <Name extends OperationName>(name: Name, reply: Reply<Name>): ReadingRoute => {
    const operation: Operation = operations[name];
    const ignoredFields = createIgnoredFields(operation);
    const checkContent = createCheckContent(name, operation);
    const mostBytes = operation.body === 'batch' ? limits.batchBodyBytes : limits.bodyBytes;

    const callerOf = async (given: Given, c: Context, time: number): Promise<Caller> => {
      const { headers } = c.req.raw;
      const tokenUUID = tokenOf(given, headers);
      const access = await authenticate(tokenUUID, c);
      checkRight(name, operation, access, headers);
      return {
        access,
        tokenUUID,
        time,
        senderOf: () => senderOf(c),
        isRobot: () => isRobot(headers.get('user-agent')),
      };
    };

    /** Stores a request that could not be parsed, if its query string or header has a good token. Reports no other error. */
    const keepUnparsed = async (c: Context, unparsed: Unparsed, time: number) => {
      if (!isKeptOperation(name) || logsNothing(c.req.raw)) return;
      const caller = await callerOf(unparsed.query, c, time).catch((error) => {
        if (error instanceof Refusal && error.code !== 'not_kept') return undefined;
        throw error;
      });
      if (caller === undefined) return;
      if (caller.access.kind === 'browser') takeBrowserLimits(c, counted(name, caller.access, {}, unread));
      await keep(unparsedRequest(name, unparsed.sent, unparsed, caller.tokenUUID), caller);
    };

    const carryOut = async (c: Context, exchange: Exchange, given: Given, caller: Caller) => {
      const checked = checkContent(given);
      if (caller.access.kind === 'browser') {
        noticeProxy(c);
        takeBrowserLimits(c, counted(name, caller.access, given, checked));
      }
      const { account } = caller.access;
      if (bringsNewData(name) && account !== null && isOverQuota(account)) {
        throw new Refusal('quota', { retryAfterSeconds: retryQuotaSeconds });
      }
      if (!checked.ok) throw refusalOf(checked.problem);
      const input = checked.value as InputOf<Name>;
      return reply({ c, exchange, input, caller, ignored: ignoredFields(given) });
    };

    return {
      methods: operation.methods,
      openToPages: operation.openToPages,
      answer: async (c, exchange, room) => {
        const time = now();
        let given: Given;
        try {
          given = await readInput(c.req.raw, mostBytes, room, budgetOf(c));
        } catch (error) {
          if (error instanceof Unparsed) await keepUnparsed(c, error, time);
          throw error;
        }
        const caller = await callerOf(given, c, time);
        try {
          return await carryOut(c, exchange, given, caller);
        } catch (error) {
          if (error instanceof Refusal && isKeptOperation(name) && !logsNothing(c.req.raw)) {
            await keep(refusedRequest(name, given, error, { token: caller.tokenUUID, time }), caller);
          }
          throw error;
        }
      },
    };
  };
};
