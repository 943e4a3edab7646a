import { type ErrorCode, errors } from '@firsthand/contract/errors';

/** The refusal of a request, with an error code from the contract. No part of the request took effect. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: ErrorCode;
  readonly field: string | undefined;
  /** When to retry, for 429 and 503. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ErrorCode,
    options: {
      field?: string | undefined;
      message?: string;
      retryAfterSeconds?: number | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(options.message ?? errors[code].when, { cause: options.cause });
    this.code = code;
    this.field = options.field;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}
