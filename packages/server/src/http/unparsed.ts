import { statusOf } from '@firsthand/contract/errors';
import { Refusal } from '../refusal.ts';

/** A request that could not be read as fields: it is refused, and its text may be of use to whoever runs the service. */
export class Unparsed extends Refusal {
  /** The fields of its query string, when it was the body that could not be read. */
  readonly query: Record<string, unknown>;
  readonly sent: Uint8Array;

  constructor(refusal: Refusal, { query = {}, sent }: { query?: Record<string, unknown>; sent: Uint8Array }) {
    const { code, field, message, cause } = refusal;
    super(code, { message, cause, ...(field !== undefined && { field }) });
    this.query = query;
    this.sent = sent;
  }
}

/** What was thrown while `sent` was being read, with `sent` when that is at fault. */
export const toUnparsed = (error: unknown, sent: Uint8Array, query?: Record<string, unknown>): unknown =>
  error instanceof Refusal && statusOf(error.code) === 400
    ? new Unparsed(error, { sent, ...(query && { query }) })
    : error;
