/** The way of every operation: read, authenticate, check the right, check the content, count, answer. */
import { type Checked, check, unknownFields } from '@firsthand/contract/checking';
import { limits } from '@firsthand/contract/limits';
import { type InputOf, type Operation, type OperationName, operations } from '@firsthand/contract/operations';
import type { Context } from 'hono';
import { Refusal } from '../refusal.ts';
import type { Access } from '../store/store.ts';
import { type AnswerHeaders, type Exchange, jsonAnswer } from './answers.ts';
import { tokenOf } from './authentication.ts';
import type { Answering, AnsweringAll, Caller } from './caller.ts';
import { type Given, readInput } from './input.ts';
import type { Counted, TakeBrowserLimits } from './rate-limits.ts';
import { checkRight } from './rights.ts';
import type { Route } from './routes.ts';

/** A request that may be carried out. */
interface AcceptedRequest<Name extends OperationName> {
  readonly c: Context;
  readonly exchange: Exchange;
  readonly input: InputOf<Name>;
  readonly caller: Caller;
  /** The fields that the operation doesn't know. */
  readonly ignored: readonly string[];
}

export type Reply<Name extends OperationName> = (request: AcceptedRequest<Name>) => Promise<Response> | Response;

/** The members that every successful JSON answer has. */
export const successAnswer = (
  exchange: Exchange,
  answer: object,
  ignored: readonly string[],
  more?: AnswerHeaders,
): Response =>
  jsonAnswer(exchange, ignored.length > 0 ? { ...answer, ignored, status: '200' } : { ...answer, status: '200' }, more);

const jsonReply =
  <Name extends OperationName>(answering: Answering<Name>): Reply<Name> =>
  async ({ exchange, input, caller, ignored }) =>
    successAnswer(exchange, await answering(input, caller), ignored);

export const jsonReplies = <Names extends OperationName>(answering: AnsweringAll<Names>) =>
  Object.fromEntries(
    Object.entries<Answering<Names>>(answering).map(([name, answer]) => [name, jsonReply(answer)]),
  ) as { readonly [Name in Names]: Reply<Name> };

const ignoredFields = ({ input, entries = {} }: Operation, given: Given): string[] => {
  const found = unknownFields(input, given).filter((field) => field !== 'tokenUUID');
  for (const [name, schema] of Object.entries(entries)) {
    const list = given[name];
    if (!Array.isArray(list)) continue;
    for (const [at, entry] of list.entries()) unknownFields(schema, entry, `${name}[${at}]`, found);
  }
  return found;
};

const refusalOf = ({ problem }: Checked<unknown> & { ok: false }) =>
  new Refusal(problem.code, { message: problem.message, ...(problem.field !== undefined && { field: problem.field }) });

interface CountedFields {
  readonly userUUID?: string;
  readonly contactUUID?: string;
  readonly event?: readonly unknown[];
}

/** What a call counts as: a refused one as well. */
const counted = (name: OperationName, { token }: Access, checked: Checked<unknown>): Counted => {
  const input: CountedFields = checked.ok ? (checked.value as CountedFields) : {};
  return {
    token,
    user: input.userUUID ?? input.contactUUID,
    events: name === 'logEvents' ? (input.event?.length ?? 1) : 1,
    createsContact: name === 'createContact',
  };
};

interface OperationSurroundings {
  readonly authenticate: (token: string, c: Context) => Promise<Access>;
  readonly takeBrowserLimits: TakeBrowserLimits;
  readonly now: () => number;
}

export const createOperationRoute =
  ({ authenticate, takeBrowserLimits, now }: OperationSurroundings) =>
  <Name extends OperationName>(name: Name, reply: Reply<Name>): Route => {
    const operation: Operation = operations[name];
    const mostBytes = operation.body === 'batch' ? limits.batchBodyBytes : limits.bodyBytes;
    return {
      methods: operation.methods,
      openToPages: operation.openToPages,
      answer: async (c, exchange) => {
        const time = now();
        const { raw } = c.req;
        const given = await readInput(raw, mostBytes);
        const tokenUUID = tokenOf(given, raw.headers);
        const access = await authenticate(tokenUUID, c);
        checkRight(name, operation, access, raw.headers);
        const checked = check(operation.input, given);
        if (access.kind === 'browser') takeBrowserLimits(c, counted(name, access, checked));
        if (!checked.ok) throw refusalOf(checked);
        const input = checked.value as InputOf<Name>;
        const ignored = ignoredFields(operation, given);
        return reply({ c, exchange, input, caller: { access, tokenUUID, time }, ignored });
      },
    };
  };
