import { statusOf } from '@firsthand/contract/errors';
import { Refusal } from '../../shared/refusal.ts';

/** The error for an unparseable request, with the request's bytes, which are stored for replay. */
export class Unparsed extends Refusal {
  readonly sent: Uint8Array;
  /** The fields of the query string, if the body could not be parsed. */
  readonly query: Record<string, unknown>;

  constructor(refusal: Refusal, sent: Uint8Array, query: Record<string, unknown> = {}) {
    super(refusal.code, refusal);
    this.sent = sent;
    this.query = query;
  }
}

/** Converts an error thrown while parsing `sent`: to Unparsed if its status is 400; otherwise returns it unchanged. */
export const toUnparsed = (error: unknown, sent: Uint8Array, query?: Record<string, unknown>): unknown =>
  error instanceof Refusal && statusOf(error.code) === 400 ? new Unparsed(error, sent, query) : error;
