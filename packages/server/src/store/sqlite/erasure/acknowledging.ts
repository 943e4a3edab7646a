/** Acknowledges an erasure once the record holds everything that must be purged from a restored backup (decision 7). */
import { setTimeout as wait } from 'node:timers/promises';
import { Refusal } from '../../../shared/refusal.ts';
import type { ErasureReceipt, Store } from '../../store.ts';
import type { Call } from '../calls.ts';

/** The progress of an erasure. */
export interface ErasureProgress extends ErasureReceipt {
  /** Whether claims or requests still name the contact by identifiers that are not in the record yet. */
  readonly hasNames: boolean;
}

const pauseMilliseconds = 10;
/** A contact with 100,000 requests takes some seconds. */
const maxMilliseconds = 60_000;

/** `eraseContact` of the Store, over a writer that needs several commits for a contact with many claims or requests. */
export const acknowledging =
  (write: (call: Call) => Promise<unknown>): Store['eraseContact'] =>
  async (request) => {
    const began = performance.now();
    for (let asked = request; ; ) {
      const { hasNames, ...receipt } = (await write({ name: 'eraseContact', request: asked })) as ErasureProgress;
      if (!hasNames) return receipt;
      if (performance.now() - began > maxMilliseconds) throw new Refusal('unavailable', { retryAfterSeconds: 5 });
      await wait(pauseMilliseconds);
      // The same as a repeated request of a client.
      asked = { account: request.account, contactUUID: receipt.contactUUID, time: Date.now() };
    }
  };
