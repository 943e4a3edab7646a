/** Decides which refused writes are stored for replay, and in what form. */

import { isRecord } from '@firsthand/contract/checking';
import { type ErrorCode, statusOf } from '@firsthand/contract/errors';
import { parseJSON } from '@firsthand/contract/json';
import { limits } from '@firsthand/contract/limits';
import type { InputOf, OperationName } from '@firsthand/contract/operations';
import type { Problem } from '@firsthand/contract/response';
import { parseAddress } from '../../identity/email-address.ts';
import { createEventUUID } from '../../ingest/new-event.ts';
import type { Refusal } from '../../shared/refusal.ts';
import {
  type NewRefusedRequest,
  type RefusableOperation,
  type RefusedBatch,
  type RefusedInput,
  refusableOperations,
} from '../../store/store.ts';
import { accountOf, type Caller } from '../access/caller.ts';
import type { RequestFields } from '../request/input.ts';

/** The statuses of requests that can succeed after a fix, unlike missing rights, rate limits and erased contacts. */
const storedStatuses: readonly number[] = [400, 404, 409];
export const isRefusableCode = (code: ErrorCode): boolean => storedStatuses.includes(statusOf(code));

export const isRefusableOperation = (name: OperationName): name is RefusableOperation =>
  (refusableOperations as readonly string[]).includes(name);

const isFilled = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** Adds an eventUUID if the event has none, so that replaying the event stores it only once. */
const withEventUUID = (event: RequestFields, time: number): RequestFields =>
  isFilled(event.eventUUID) ? event : { ...event, eventUUID: createEventUUID(time) };

const withEventUUIDs = (fields: RequestFields, time: number): RequestFields => {
  let { event } = fields;
  // A form sends the list as JSON text.
  if (typeof event === 'string') {
    try {
      event = parseJSON(event);
    } catch {}
  }
  if (!Array.isArray(event)) return fields;
  return { ...fields, event: event.map((entry) => (isRecord(entry) ? withEventUUID(entry, time) : entry)) };
};

/** Matches secret tokens of any account: a client that confuses fields can send a secret token in any of them. */
const secretToken = /(?:agent|viewer|editor|server|operator|session)_[\w-]{22,}/g;

/** Returns a copy of a JSON value without the request's own token or any secret token. */
const withoutTokens = <Value>(value: Value, token: string): Value =>
  JSON.parse(
    JSON.stringify(value, (name, inner) => (name === 'tokenUUID' ? undefined : inner))
      .replaceAll(JSON.stringify(token).slice(1, -1), '')
      .replace(secretToken, ''),
  );

/** Returns the stored form of a refused request. `time` is when it was received, in milliseconds since 1970. */
export const refusedRequest = (
  operation: RefusableOperation,
  sent: RequestFields,
  { code, field, message }: Pick<Problem, 'code' | 'message'> & { readonly field?: string | undefined },
  { token, time }: { token: string; time: number },
): NewRefusedRequest => {
  const fields = withoutTokens(sent, token);
  const { contactEmailaddress: address } = fields;
  const input: RefusedInput =
    operation === 'logEvent'
      ? withEventUUID(fields, time)
      : operation === 'logEvents'
        ? withEventUUIDs(fields, time)
        : fields;
  return {
    operation,
    input,
    address: typeof address === 'string' ? (parseAddress(address) ?? null) : null,
    code,
    field,
    // A message can quote an ID, and an ID can contain any text.
    message: message.replaceAll(token, '').replace(secretToken, ''),
  };
};

/** Returns the stored form of an unparseable request: its text without tokens, with invalid UTF-8 replaced. */
export const unparsedRequest = (
  operation: RefusableOperation,
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

/** Returns a batch entry as a separate logEvent request. */
export const entryAsRequest = (
  entry: unknown,
  { userUUID, contactUUID, contactExternalID, sentTime, import: imported }: Envelope,
): RequestFields => {
  const namesContact = isRecord(entry) && (isFilled(entry.contactUUID) || isFilled(entry.contactExternalID));
  const contact = namesContact ? {} : { contactUUID, contactExternalID };
  const envelope = { userUUID, ...contact, sentTime, import: imported };
  if (!isRecord(entry)) return { ...envelope, event: entry };
  // The sentTime of the batch applies; an entry's own sentTime is ignored.
  const own = Object.entries(entry).filter(([name, value]) => name !== 'sentTime' && isFilled(value));
  return { ...envelope, ...Object.fromEntries(own) };
};

/** Returns one caller's refused requests in the form that the store expects. */
export const refusedBatch = (caller: Caller, requests: readonly NewRefusedRequest[]): RefusedBatch => ({
  account: accountOf(caller),
  token: caller.access.token,
  time: caller.time,
  sender: caller.senderOf?.() ?? 0,
  // A server's headers don't describe the visitor.
  robot: (caller.access.kind === 'browser' && caller.agent?.().robot) ?? false,
  requests,
});
