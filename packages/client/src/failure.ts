import type { ErrorCode } from '@firsthand/contract/errors';

/**
 * Thrown when an operation was rejected, or when the client doesn't know whether it took effect. `code` is an error
 * code of the contract, `unreachable` (no response: network, timeout) or `unreadable` (a response that doesn't come
 * from the service).
 */
export class FirsthandError extends Error {
  override readonly name = 'FirsthandError';
  /** The HTTP status; 0 if there was no response. */
  readonly status: number;
  readonly code: ErrorCode | 'unreachable' | 'unreadable';
  /** The path of the field that caused the error: `event[3].eventID`. */
  readonly field: string | undefined;
  /** The ID under which the service logged the request. */
  readonly requestID: string | undefined;
  /** How many seconds to wait before trying again, if the service sent Retry-After. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    message: string,
    details: {
      status: number;
      code: FirsthandError['code'];
      field?: string | undefined;
      requestID?: string | undefined;
      retryAfterSeconds?: number | undefined;
      cause?: unknown;
    },
  ) {
    super(message, { cause: details.cause });
    this.status = details.status;
    this.code = details.code;
    this.field = details.field;
    this.requestID = details.requestID;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

/** Retry-After in seconds; the header contains seconds or a date (RFC 9110 section 10.2.3). */
const parseRetryAfter = (text: string | null, now: number): number | undefined => {
  if (text === null) return undefined;
  if (/^\d+$/.test(text.trim())) return Number(text);
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : Math.max(0, Math.ceil((time - now) / 1000));
};

const record = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Services of version 0.1.0 or earlier return `not_kept` instead of `unavailable`. */
const currentCode = (code: string): ErrorCode => (code === 'not_kept' ? 'unavailable' : (code as ErrorCode));

const failureOf = (
  body: unknown,
  fallback: { message: string; status: number; requestID?: string | undefined; retryAfterSeconds?: number | undefined },
): FirsthandError => {
  const response = record(body);
  const problem = record(response.error);
  const code = text(problem.code);
  return new FirsthandError(text(problem.message) ?? fallback.message, {
    status: fallback.status,
    code: code === undefined ? 'unreadable' : currentCode(code),
    field: text(problem.field),
    requestID: text(response.requestID) ?? fallback.requestID,
    retryAfterSeconds: fallback.retryAfterSeconds,
  });
};

/** The error for a response other than 2xx. `body` is its parsed JSON; undefined if it is not JSON. */
export const toFailure = ({ status, headers }: Response, body: unknown): FirsthandError =>
  failureOf(body, {
    message: `HTTP ${status} from something other than Firsthand`,
    status,
    requestID: headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: parseRetryAfter(headers.get('retry-after'), Date.now()),
  });

/** The error for a stream that ended with an `error` message. `body` is its data, an error response. */
export const toBrokenStream = (body: unknown): FirsthandError =>
  failureOf(body, {
    message: 'stream error from something other than Firsthand',
    status: Number(record(body).status) || 0,
  });

/** The error for a request that got no response. */
export const toUnreachable = (cause: unknown, url: string): FirsthandError => {
  const { origin } = new URL(url);
  const reason =
    cause instanceof Error && cause.name === 'TimeoutError'
      ? 'timed out'
      : [cause, record(cause).cause]
          .map((error) => record(error).code ?? record(error).message)
          .filter(Boolean)
          .at(-1);
  return new FirsthandError(`${origin} could not be reached: ${reason ?? cause}`, {
    status: 0,
    code: 'unreachable',
    cause,
  });
};
