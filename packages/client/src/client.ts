import { type Operation, type OperationName, operationNames, operations } from '@firsthand/contract/operations';
import { FirsthandError, toBrokenStream, toFailure, toUnreachable } from './failure.ts';
import { type PagedOperation, readPages } from './pages.ts';
import { type Fields, type RequestFor, toRequest } from './requests.ts';
import { parseJSON, type ResponseFor } from './responses.ts';
import { addIdentifiers, computeRetryDelay, isRepeatable, isTransient, sleep } from './retries.ts';
import { type FollowedEvent, parseMessages } from './stream.ts';

export interface ClientOptions<Dates extends boolean = boolean> {
  /** The service's root URL, including the base path: `https://events.shop.example/firsthand` */
  readonly url: string;
  /** A token; in a page, a browser token. It is sent as `Authorization: Bearer`, never in a URL. */
  readonly token?: string | undefined;
  readonly fetch?: typeof fetch | undefined;
  /**
   * The timeout of one attempt: 10 seconds by default, 30 for reports. For streams it covers only the response headers.
   */
  readonly timeoutMs?: number | undefined;
  /** The maximum number of retries of an operation that is safe to repeat; 4 by default. */
  readonly retries?: number | undefined;
  /** Whether times in responses are Dates. By default they are ISO 8601 in UTC, with milliseconds. */
  readonly dates?: Dates | undefined;
}

export interface CallOptions {
  /** Aborts the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** The timeout of one attempt of this call, instead of the client's. */
  readonly timeoutMs?: number | undefined;
  /** The maximum number of retries of this call, instead of the client's. */
  readonly retries?: number | undefined;
  /** Called with the failure of an attempt, before the client waits to retry. */
  readonly onRetry?: ((failure: FirsthandError) => void) | undefined;
}

type CallableOperation = Exclude<OperationName, 'streamEvents'>;

/** Operations with CSV and NDJSON responses. */
export type CSVOperation =
  | 'searchContact'
  | 'getEvent'
  | 'reportPeople'
  | 'reportBreakdown'
  | 'listAudit'
  | 'listRefused';

/**
 * One function per operation. It resolves with the response, or rejects with a FirsthandError, with the signal's reason
 * after an abort, or with a RangeError for an invalid Date in the request. Operations that are safe to repeat (reads,
 * logEvent, logEvents, createContact) are retried while the service is busy or unreachable.
 */
export type Client<Dates extends boolean = false> = {
  [Name in CallableOperation]: (request: RequestFor<Name>, options?: CallOptions) => Promise<ResponseFor<Name, Dates>>;
} & {
  /**
   * Yields the responses of a paged operation, from the request's `cursor` or the first page to the last. A page may be
   * empty. Throws the same errors as the operation.
   */
  pages<Name extends PagedOperation>(
    name: Name,
    request: RequestFor<Name>,
    options?: CallOptions,
  ): AsyncGenerator<ResponseFor<Name, Dates>, void>;
  /** Resolves with a stream of all rows as CSV. If a row cannot be read, the stream errors instead of ending. */
  csv<Name extends CSVOperation>(
    name: Name,
    request: Omit<RequestFor<Name>, 'limit' | 'cursor'>,
    options?: CallOptions,
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
  /** Like `csv`, but with one JSON object per line. */
  ndjson<Name extends CSVOperation>(
    name: Name,
    request: Omit<RequestFor<Name>, 'limit' | 'cursor'>,
    options?: CallOptions,
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
  /**
   * Yields events as they are stored, from `cursor` or from now on. Once the stream has started, it reconnects after
   * the last event, any number of times. It ends when the caller stops iterating or aborts, and throws a FirsthandError
   * when the service rejects it, for example because the token was revoked.
   */
  streamEvents(request: RequestFor<'streamEvents'>, options?: CallOptions): AsyncGenerator<FollowedEvent<Dates>, void>;
};

export const createClient = <const Dates extends boolean = false>({
  url,
  token,
  timeoutMs,
  retries: defaultRetries = 4,
  dates,
  ...options
}: ClientOptions<Dates>): Client<Dates> => {
  const root = url.replace(/\/+$/, '');
  const send = options.fetch ?? fetch;

  const callOperation = async <Result>(
    name: OperationName,
    request: Fields,
    read: Read<Result>,
    { accept, retries = defaultRetries, onRetry, ...options }: CallOptions & { readonly accept?: string } = {},
  ): Promise<Result> => {
    const fields = addIdentifiers(name, request);
    const { slow }: Operation = operations[name];
    const call = { ...options, timeoutMs: options.timeoutMs ?? timeoutMs ?? (slow ? 30_000 : 10_000) };
    for (let attempt = 1; ; attempt += 1) {
      try {
        const httpRequest = toRequest(root, token, name, fields);
        if (accept !== undefined) httpRequest.headers.set('accept', accept);
        return await tryOnce(send, httpRequest, read, call);
      } catch (error) {
        if (!(error instanceof FirsthandError) || !isRepeatable(name) || attempt > retries) throw error;
        const delay = computeRetryDelay(attempt, error);
        if (delay === undefined) throw error;
        onRetry?.(error);
        await sleep(delay, options.signal);
      }
    }
  };

  async function* streamEvents(request: Fields, options?: CallOptions): AsyncGenerator<FollowedEvent<Dates>, void> {
    let { cursor } = request;
    let started = false;
    for (let reconnects = 0; ; reconnects += 1) {
      try {
        // The connection was lost. A restarting service needs a moment.
        if (reconnects > 0) await sleep(Math.min(maxReconnectDelayMs, 50 * 2 ** reconnects), options?.signal);
        const messages = await callOperation('streamEvents', { ...request, cursor }, readMessages, options);
        started = true;
        for await (const { type, data, id } of messages) {
          if (type === 'error') throw toBrokenStream(parseJSON(data));
          cursor = id || cursor;
          if (data === '') continue;
          reconnects = 0;
          const event = parseJSON(data, dates);
          if (event === undefined) throw toBrokenStream(undefined);
          yield { ...(event as ResponseFor<'streamEvents', Dates>), cursor: id };
        }
      } catch (error) {
        if (options?.signal?.aborted) return;
        if (error instanceof RangeError || (error instanceof FirsthandError && !(started && isTransient(error))))
          throw error;
      }
    }
  }

  const readJSON: Read<unknown> = async (response) => {
    const body = parseJSON(await response.text(), dates);
    if (body === undefined) throw toFailure(response, undefined);
    return body;
  };

  const functions = operationNames.map((name) => [
    name,
    name === 'streamEvents'
      ? streamEvents
      : (request: Fields, options?: CallOptions) => callOperation(name, request, readJSON, options),
  ]);
  const calls = Object.fromEntries(functions);
  const pages = (name: PagedOperation, request: Fields & { cursor?: string }, options?: CallOptions) =>
    readPages(request.cursor, (cursor) => callOperation(name, { ...request, cursor }, readJSON, options));
  const fileAs = (accept: string) => (name: CSVOperation, request: Fields, options?: CallOptions) =>
    callOperation(name, request, readBody, { ...options, accept });
  return { ...calls, pages, csv: fileAs('text/csv'), ndjson: fileAs('application/x-ndjson') } as Client<Dates>;
};

type Read<Result> = (response: Response) => Promise<Result>;

const maxReconnectDelayMs = 10_000;

/**
 * Makes one attempt. Returns the result of `read` for a 2xx response; throws a FirsthandError or, if aborted, the abort
 * reason.
 */
const tryOnce = async <Result>(
  send: typeof fetch,
  request: Request,
  read: Read<Result>,
  { signal, timeoutMs }: CallOptions & { readonly timeoutMs: number },
): Promise<Result> => {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(new DOMException('timed out', 'TimeoutError')), timeoutMs);
  try {
    const response = await send(request, {
      signal: signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal,
    });
    if (!response.ok) throw toFailure(response, parseJSON(await response.text()));
    return await read(response);
  } catch (cause) {
    if (cause instanceof FirsthandError || signal?.aborted) throw cause;
    throw toUnreachable(timeout.signal.aborted ? timeout.signal.reason : cause, request.url);
  } finally {
    clearTimeout(timer);
  }
};

const readBody: Read<ReadableStream<Uint8Array<ArrayBuffer>>> = async (response) => {
  if (!response.body) throw toFailure(response, undefined);
  return response.body;
};

const readMessages: Read<ReturnType<typeof parseMessages>> = async (response) =>
  parseMessages(await readBody(response));
