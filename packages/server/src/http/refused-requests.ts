/** Writes that are refused for their content: which of them are kept, and as what. */
import type { Problem } from '@firsthand/contract/answer';
import { type ErrorCode, statusOf } from '@firsthand/contract/errors';
import { parseJSON } from '@firsthand/contract/json';
import { limits } from '@firsthand/contract/limits';
import type { OperationName } from '@firsthand/contract/operations';
import { parseAddress } from '../identity/address.ts';
import { createEventUUID } from '../ingest/event-uuid.ts';
import type { Refusal } from '../refusal.ts';
import {
  type KeptOperation,
  keptOperations,
  type NewRefusedRequest,
  type RefusedBatch,
  type RefusedInput,
} from '../store/store.ts';
import { accountOf, type Caller } from './caller.ts';
import type { Given } from './input.ts';

/** A request that a fix can help: no right is missing, no limit met, and nobody was erased. */
const keptStatuses: readonly number[] = [400, 404, 409];
export const isKeptCode = (code: ErrorCode): boolean => keptStatuses.includes(statusOf(code));

export const isKeptOperation = (name: OperationName): name is KeptOperation =>
  (keptOperations as readonly string[]).includes(name);

const isFields = (value: unknown): value is Given =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isFilled = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** With an eventUUID, so that whoever sends it again sends the same event. */
const identified = (event: Given, time: number): Given =>
  isFilled(event.eventUUID) ? event : { ...event, eventUUID: createEventUUID(time) };

const identifiedBatch = (fields: Given, time: number): Given => {
  let { event } = fields;
  // In a form it is the text of a list.
  if (typeof event === 'string') {
    try {
      event = parseJSON(event);
    } catch {}
  }
  if (!Array.isArray(event)) return fields;
  return { ...fields, event: event.map((entry) => (isFields(entry) ? identified(entry, time) : entry)) };
};

/** Tokens that are secret, whoever's: a client that mixes its fields up sends one where nobody looks for it. */
const secretToken = /(?:viewer|server|operator)_[\w-]{22,}/g;

/** A value of JSON without the token that came with it and without secret ones, wherever they stand. */
const withoutToken = <Value>(value: Value, token: string): Value =>
  JSON.parse(
    JSON.stringify(value, (name, inner) => (name === 'tokenUUID' ? undefined : inner))
      .replaceAll(JSON.stringify(token).slice(1, -1), '')
      .replace(secretToken, ''),
  );

/** The refused request as it is kept. `time` is when it was received. */
export const refusedRequest = (
  operation: KeptOperation,
  given: Given,
  { code, field, message }: Pick<Problem, 'code' | 'message'> & { readonly field?: string | undefined },
  { token, time }: { token: string; time: number },
): NewRefusedRequest => {
  const bare = withoutToken(given, token);
  const { contactEmailaddress: address } = bare;
  const input: RefusedInput =
    operation === 'logEvent' ? identified(bare, time) : operation === 'logEvents' ? identifiedBatch(bare, time) : bare;
  return {
    operation,
    input,
    address: typeof address === 'string' ? (parseAddress(address) ?? null) : null,
    code,
    field,
    // It may quote an ID, and an ID may be anything.
    message: message.replaceAll(token, '').replace(secretToken, ''),
  };
};

const namedTokens = [secretToken, /("tokenUUID"\s*:\s*")[^"]*/g, /(\btokenUUID=)[^&\s]*/g];

/** What could not be read as fields, as it is kept: its text, UTF-8 or what comes nearest, without tokens. */
export const unparsedRequest = (
  operation: KeptOperation,
  sent: Uint8Array,
  { code, field, message }: Refusal,
  token: string,
): NewRefusedRequest => {
  const text = namedTokens.reduce(
    (kept, named) => kept.replace(named, (_, name) => (typeof name === 'string' ? name : '')),
    new TextDecoder().decode(sent).replaceAll(token, ''),
  );
  return { operation, input: text.slice(0, limits.refusedTextLength), address: null, code, field, message };
};

interface Envelope {
  readonly userUUID?: string | undefined;
  readonly contactUUID?: string | undefined;
  readonly sentTime?: number | undefined;
  readonly import?: boolean | undefined;
}

/** An entry of a batch as the logEvent that it would have been alone. */
export const entryAlone = (entry: unknown, { userUUID, contactUUID, sentTime, import: imported }: Envelope): Given => {
  const said = Object.entries({ userUUID, contactUUID, sentTime, import: imported }).filter(
    ([, value]) => value !== undefined,
  );
  const envelope = Object.fromEntries(said);
  if (!isFields(entry)) return { ...envelope, event: entry };
  // A batch has one sentTime for all.
  const own = Object.entries(entry).filter(([name, value]) => name !== 'sentTime' && isFilled(value));
  return { ...envelope, ...Object.fromEntries(own) };
};

/** Refused requests of one caller, as the store takes them. */
export const refusedBatch = async (caller: Caller, requests: readonly NewRefusedRequest[]): Promise<RefusedBatch> => ({
  account: accountOf(caller),
  token: caller.access.token,
  time: caller.time,
  sender: (await caller.senderOf?.()) ?? 0,
  robot: caller.isRobot?.() ?? false,
  requests,
});
