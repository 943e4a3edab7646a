import { statusOf } from '@firsthand/contract/errors';
import { Refusal } from '../../refusal.ts';

/** The refusal of a request that could not be parsed, with its text, which is stored for the operator. */
export class Unparsed extends Refusal {
  /** The fields of the query string, if the body could not be parsed. */
  readonly query: Record<string, unknown>;
  readonly sent: Uint8Array;

  constructor(refusal: Refusal, { query = {}, sent }: { query?: Record<string, unknown>; sent: Uint8Array }) {
    const { code, field, message, cause } = refusal;
    super(code, { message, cause, ...(field !== undefined && { field }) });
    this.query = query;
    this.sent = sent;
  }
}

/** An error thrown while parsing `sent`: as Unparsed if its status is 400, else unchanged. */
export const toUnparsed = (error: unknown, sent: Uint8Array, query?: Record<string, unknown>): unknown =>
  error instanceof Refusal && statusOf(error.code) === 400
    ? new Unparsed(error, { sent, ...(query && { query }) })
    : error;
