import { type OperationName, operationNames, type ResponseOf } from '@firsthand/contract/operations';
import { FirsthandError, toBrokenStream, toFailure, toUnreachable } from './failure.ts';
import { type Fields, type RequestFor, toRequest } from './requests.ts';
import { identify, isRepeatable, mayPass, pauseBefore, sleep } from './retries.ts';
import { type FollowedEvent, parseMessages } from './stream.ts';

export interface ClientOptions {
  /** The service's root, base path included: `https://events.shop.example/firsthand` */
  readonly url: string;
  /** A server or an operator token. It is sent as `Authorization: Bearer`, never in a URL. */
  readonly token?: string | undefined;
  readonly fetch?: typeof fetch | undefined;
  /** The limit for one try; 10 seconds by default. For a stream it ends with the response headers. */
  readonly timeoutMs?: number | undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

type Asked = Exclude<OperationName, 'streamEvents'>;

/**
 * The client: one function for each operation. It resolves with the response of the service, or rejects with a FirsthandError or,
 * after an abort, with the signal's reason. Operations that are safe to repeat (reads, logEvent, logEvents, createContact) are
 * repeated up to four times while the service is busy or can't be reached.
 */
export type Client = {
  [Name in Asked]: (request: RequestFor<Name>, options?: CallOptions) => Promise<ResponseOf<Name>>;
} & {
  /**
   * Yields events as they are stored, from `cursor` or from now on. Once the stream has begun, a broken connection is made again
   * from the last event, without a limit of tries. The iteration ends when the caller leaves it or aborts. It throws a
   * FirsthandError when the service refuses, at the beginning or later: the contact was erased, the token revoked.
   */
  streamEvents(request: RequestFor<'streamEvents'>, options?: CallOptions): AsyncGenerator<FollowedEvent, void>;
};

export const createClient = ({ url, token, timeoutMs = 10_000, ...options }: ClientOptions): Client => {
  const root = url.replace(/\/+$/, '');
  const send = options.fetch ?? fetch;

  /** One try. Returns what `read` makes of a 2xx response, or throws a FirsthandError; after an abort, the signal's reason. */
  const tryOnce = async <Answer>(
    request: Request,
    read: Read<Answer>,
    signal: AbortSignal | undefined,
  ): Promise<Answer> => {
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(new DOMException('no answer in time', 'TimeoutError')), timeoutMs);
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
    { signal }: CallOptions = {},
  ): Promise<Answer> => {
    const fields = identify(name, given);
    for (let tries = 1; ; tries += 1) {
      try {
        return await tryOnce(toRequest(root, token, name, fields), read, signal);
      } catch (error) {
        const pause = error instanceof FirsthandError && isRepeatable(name) ? pauseBefore(tries, error) : undefined;
        if (pause === undefined) throw error;
        await sleep(pause, signal);
      }
    }
  };

  async function* streamEvents(given: Fields, options?: CallOptions): AsyncGenerator<FollowedEvent, void> {
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
          breaks = 0;
          cursor = id || cursor;
          yield { ...(JSON.parse(data) as ResponseOf<'streamEvents'>), cursor: id };
        }
      } catch (error) {
        if (options?.signal?.aborted) return;
        if (error instanceof SyntaxError || (error instanceof FirsthandError && !(begun && mayPass(error))))
          throw error;
      }
    }
  }

  const functions = operationNames.map((name) => [
    name,
    name === 'streamEvents'
      ? streamEvents
      : (given: Fields, options?: CallOptions) => ask(name, given, readJSON, options),
  ]);
  return Object.fromEntries(functions) as Client;
};

type Read<Answer> = (response: Response) => Promise<Answer>;

const longestBreakMs = 10_000;

const parseJSON = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const readJSON: Read<unknown> = async (response) => {
  const answer = parseJSON(await response.text());
  if (answer === undefined) throw toFailure(response, undefined);
  return answer;
};

const readMessages: Read<ReturnType<typeof parseMessages>> = async (response) => {
  if (!response.body) throw toFailure(response, undefined);
  return parseMessages(response.body);
};
