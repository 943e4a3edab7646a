import { type Operation, type OperationName, operationNames, operations } from '@firsthand/contract/operations';
import { type AnswerFor, parseJSON } from './answers.ts';
import { FirsthandError, toBrokenStream, toFailure, toUnreachable } from './failure.ts';
import { type PagedOperation, pagesOf } from './pages.ts';
import { type Fields, type RequestFor, toRequest } from './requests.ts';
import { identify, isRepeatable, mayPass, pauseBefore, sleep } from './retries.ts';
import { type FollowedEvent, parseMessages } from './stream.ts';

export interface ClientOptions<Dates extends boolean = boolean> {
  /** The service's root, base path included: `https://events.shop.example/firsthand` */
  readonly url: string;
  /** A token; in a page, a browser token. It is sent as `Authorization: Bearer`, never in a URL. */
  readonly token?: string | undefined;
  readonly fetch?: typeof fetch | undefined;
  /** The limit for one try; 10 seconds by default, 30 for a report. For a stream it ends with the response headers. */
  readonly timeoutMs?: number | undefined;
  /** How often an operation that is safe to repeat is tried again; 4 times by default. */
  readonly retries?: number | undefined;
  /** Whether times in responses are Dates. If not, they are ISO 8601 in UTC, with milliseconds, as they are sent. */
  readonly dates?: Dates | undefined;
}

export interface CallOptions {
  /** Ends the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** The limit for one try of this call, instead of the client's. */
  readonly timeoutMs?: number | undefined;
}

type Asked = Exclude<OperationName, 'streamEvents'>;

/** The operations that list rows. */
export type CSVOperation =
  | 'searchContact'
  | 'getEvent'
  | 'reportPeople'
  | 'reportBreakdown'
  | 'listAudit'
  | 'listRefused';

/**
 * The client: one function for each operation. It resolves with the response of the service, or rejects with a FirsthandError or,
 * after an abort, with the signal's reason. Operations that are safe to repeat (reads, logEvent, logEvents, createContact) are
 * repeated while the service is busy or can't be reached. An invalid Date in a request is a RangeError.
 */
export type Client<Dates extends boolean = false> = {
  [Name in Asked]: (request: RequestFor<Name>, options?: CallOptions) => Promise<AnswerFor<Name, Dates>>;
} & {
  /**
   * Yields the pages of an operation: its responses, from the request's `cursor` or the first page to the last. A page may be empty.
   * It throws what a call of the operation throws.
   */
  pages<Name extends PagedOperation>(
    name: Name,
    request: RequestFor<Name>,
    options?: CallOptions,
  ): AsyncGenerator<AnswerFor<Name, Dates>, void>;
  /**
   * Resolves with the stream of a CSV file that has all rows of the list. A stream that ends is complete: it breaks when a later row can't be
   * read.
   */
  csv<Name extends CSVOperation>(
    name: Name,
    request: Omit<RequestFor<Name>, 'limit' | 'cursor'>,
    options?: CallOptions,
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
  /**
   * Yields events as they are stored, from `cursor` or from now on. Once the stream has begun, a broken connection is made again
   * from the last event, without a limit of tries. The iteration ends when the caller leaves it or aborts. It throws a
   * FirsthandError when the service refuses, at the beginning or later: the contact was erased, the token revoked.
   */
  streamEvents(request: RequestFor<'streamEvents'>, options?: CallOptions): AsyncGenerator<FollowedEvent<Dates>, void>;
};

export const createClient = <const Dates extends boolean = false>({
  url,
  token,
  timeoutMs,
  retries = 4,
  dates,
  ...options
}: ClientOptions<Dates>): Client<Dates> => {
  const root = url.replace(/\/+$/, '');
  const send = options.fetch ?? fetch;

  /** One try. Returns what `read` makes of a 2xx response, or throws a FirsthandError; after an abort, the signal's reason. */
  const tryOnce = async <Answer>(
    request: Request,
    read: Read<Answer>,
    { signal, timeoutMs: limitMs }: CallOptions & { readonly timeoutMs: number },
  ): Promise<Answer> => {
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(new DOMException('no answer in time', 'TimeoutError')), limitMs);
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

  const ask = async <Answer>(
    name: OperationName,
    given: Fields,
    read: Read<Answer>,
    { accept, ...options }: CallOptions & { readonly accept?: string } = {},
  ): Promise<Answer> => {
    const fields = identify(name, given);
    const { slow }: Operation = operations[name];
    const call = { ...options, timeoutMs: options.timeoutMs ?? timeoutMs ?? (slow ? 30_000 : 10_000) };
    for (let tries = 1; ; tries += 1) {
      try {
        const request = toRequest(root, token, name, fields);
        if (accept !== undefined) request.headers.set('accept', accept);
        return await tryOnce(request, read, call);
      } catch (error) {
        const mayRepeat = error instanceof FirsthandError && isRepeatable(name) && tries <= retries;
        const pause = mayRepeat ? pauseBefore(tries, error) : undefined;
        if (pause === undefined) throw error;
        await sleep(pause, options.signal);
      }
    }
  };

  async function* streamEvents(given: Fields, options?: CallOptions): AsyncGenerator<FollowedEvent<Dates>, void> {
    let { cursor } = given;
    let begun = false;
    for (let breaks = 0; ; breaks += 1) {
      try {
        // The connection has ended or broken. A service that restarts needs a moment.
        if (breaks > 0) await sleep(Math.min(longestBreakMs, 50 * 2 ** breaks), options?.signal);
        const messages = await ask('streamEvents', { ...given, cursor }, readMessages, options);
        begun = true;
        for await (const { type, data, id } of messages) {
          if (type === 'error') throw toBrokenStream(parseJSON(data));
          cursor = id || cursor;
          if (data === '') continue;
          breaks = 0;
          const event = parseJSON(data, dates);
          if (event === undefined) throw toBrokenStream(undefined);
          yield { ...(event as AnswerFor<'streamEvents', Dates>), cursor: id };
        }
      } catch (error) {
        if (options?.signal?.aborted) return;
        if (error instanceof RangeError || (error instanceof FirsthandError && !(begun && mayPass(error)))) throw error;
      }
    }
  }

  const readJSON: Read<unknown> = async (response) => {
    const answer = parseJSON(await response.text(), dates);
    if (answer === undefined) throw toFailure(response, undefined);
    return answer;
  };

  const functions = operationNames.map((name) => [
    name,
    name === 'streamEvents'
      ? streamEvents
      : (given: Fields, options?: CallOptions) => ask(name, given, readJSON, options),
  ]);
  const calls = Object.fromEntries(functions);
  const pages = (name: PagedOperation, request: Fields & { cursor?: string }, options?: CallOptions) =>
    pagesOf(request.cursor, (cursor) => ask(name, { ...request, cursor }, readJSON, options));
  const csv = (name: CSVOperation, request: Fields, options?: CallOptions) =>
    ask(name, request, readBody, { ...options, accept: 'text/csv' });
  return { ...calls, pages, csv } as Client<Dates>;
};

type Read<Answer> = (response: Response) => Promise<Answer>;

const longestBreakMs = 10_000;

const readBody: Read<ReadableStream<Uint8Array<ArrayBuffer>>> = async (response) => {
  if (!response.body) throw toFailure(response, undefined);
  return response.body;
};

const readMessages: Read<ReturnType<typeof parseMessages>> = async (response) =>
  parseMessages(await readBody(response));
