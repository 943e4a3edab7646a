/** Decides which refused writes are stored to be replayed, and in which form. */
import type { Problem } from '@firsthand/contract/answer';
import { isRecord } from '@firsthand/contract/checking';
import { type ErrorCode, statusOf } from '@firsthand/contract/errors';
import { parseJSON } from '@firsthand/contract/json';
import { limits } from '@firsthand/contract/limits';
import type { InputOf, OperationName } from '@firsthand/contract/operations';
import { parseAddress } from '../../identity/email-address.ts';
import { createEventUUID } from '../../ingest/new-event.ts';
import type { Refusal } from '../../shared/refusal.ts';
import {
  type KeptOperation,
  keptOperations,
  type NewRefusedRequest,
  type RefusedBatch,
  type RefusedInput,
} from '../../store/store.ts';
import { accountOf, type Caller } from '../access/caller.ts';
import type { Given } from '../request/input.ts';

/** The statuses of requests that may succeed after a fix. Missing rights, limits and erased contacts are not among them. */
const keptStatuses: readonly number[] = [400, 404, 409];
export const isKeptCode = (code: ErrorCode): boolean => keptStatuses.includes(statusOf(code));

export const isKeptOperation = (name: OperationName): name is KeptOperation =>
  (keptOperations as readonly string[]).includes(name);

const isFilled = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** The event with an eventUUID, so that sending it again stores it once. */
const identified = (event: Given, time: number): Given =>
  isFilled(event.eventUUID) ? event : { ...event, eventUUID: createEventUUID(time) };

const identifiedBatch = (fields: Given, time: number): Given => {
  let { event } = fields;
  // A form has the list as its JSON text.
  if (typeof event === 'string') {
    try {
      event = parseJSON(event);
    } catch {}
  }
  if (!Array.isArray(event)) return fields;
  return { ...fields, event: event.map((entry) => (isRecord(entry) ? identified(entry, time) : entry)) };
};

/** Secret tokens, of any account: a client that mixes up its fields may send one in any of them. */
const secretToken = /(?:viewer|server|operator|session)_[\w-]{22,}/g;

/** A JSON value without the request's own token and without secret tokens, wherever they are in it. */
const withoutToken = <Value>(value: Value, token: string): Value =>
  JSON.parse(
    JSON.stringify(value, (name, inner) => (name === 'tokenUUID' ? undefined : inner))
      .replaceAll(JSON.stringify(token).slice(1, -1), '')
      .replace(secretToken, ''),
  );

/** The stored form of a refused request. `time` is when it was received, in milliseconds since 1970. */
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
    // A message may quote an ID, and an ID may hold any text.
    message: message.replaceAll(token, '').replace(secretToken, ''),
  };
};

/** The stored form of a request that could not be parsed: its text without tokens. Invalid UTF-8 becomes replacement characters. */
export const unparsedRequest = (
  operation: KeptOperation,
  sent: Uint8Array,
  { code, field, message }: Refusal,
  token: string,
): NewRefusedRequest => {
  const text = new TextDecoder()
    .decode(sent)
    .replaceAll(token, '')
    .replace(secretToken, '')
    .replace(/("tokenUUID"\s*:\s*")[^"]*/g, '$1')
    .replace(/(\btokenUUID=)[^&\s]*/g, '$1');
  return { operation, input: text.slice(0, limits.refusedTextLength), address: null, code, field, message };
};

type Envelope = Pick<InputOf<'logEvents'>, 'userUUID' | 'contactUUID' | 'contactExternalID' | 'sentTime' | 'import'>;

/** An entry of a batch in the form of a logEvent request of its own. */
export const entryAlone = (
  entry: unknown,
  { userUUID, contactUUID, contactExternalID, sentTime, import: imported }: Envelope,
): Given => {
  const namesContact = isRecord(entry) && (isFilled(entry.contactUUID) || isFilled(entry.contactExternalID));
  const contact = namesContact ? {} : { contactUUID, contactExternalID };
  const envelope = { userUUID, ...contact, sentTime, import: imported };
  if (!isRecord(entry)) return { ...envelope, event: entry };
  // The sentTime of the batch counts, and one of the entry is ignored.
  const own = Object.entries(entry).filter(([name, value]) => name !== 'sentTime' && isFilled(value));
  return { ...envelope, ...Object.fromEntries(own) };
};

/** Refused requests of one caller, in the form that the store takes. */
export const refusedBatch = (caller: Caller, requests: readonly NewRefusedRequest[]): RefusedBatch => ({
  account: accountOf(caller),
  token: caller.access.token,
  time: caller.time,
  sender: caller.senderOf?.() ?? 0,
  // The headers of a server say nothing about the visitor.
  robot: (caller.access.kind === 'browser' && caller.agent?.().robot) ?? false,
  requests,
});
