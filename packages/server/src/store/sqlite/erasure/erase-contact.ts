/**
 * Acknowledges an erasure once everything that must be erased again after a backup is restored is recorded (decision
 * 7).
 */
import { setTimeout as wait } from 'node:timers/promises';
import { Refusal } from '../../../shared/refusal.ts';
import type { ErasureReceipt, Store } from '../../store.ts';
import type { Call } from '../calls.ts';

export interface ErasureProgress extends ErasureReceipt {
  /** Whether claims or requests still have the contact's identifiers, which are not in the record yet. */
  readonly hasNames: boolean;
}

const pauseMilliseconds = 10;
/** How long to wait: a contact with 100,000 requests takes several seconds. */
const maxMilliseconds = 60_000;

/** Returns the Store's `eraseContact`. A contact with many claims or requests takes several commits. */
export const createEraseContact =
  (write: (call: Call) => Promise<unknown>): Store['eraseContact'] =>
  async (request) => {
    const began = performance.now();
    for (let next = request; ; ) {
      const { hasNames, ...receipt } = (await write({ name: 'eraseContact', request: next })) as ErasureProgress;
      if (!hasNames) return receipt;
      if (performance.now() - began > maxMilliseconds) throw new Refusal('unavailable', { retryAfterSeconds: 5 });
      await wait(pauseMilliseconds);
      // Acts like a client that repeats its request.
      next = { account: request.account, contactUUID: receipt.contactUUID, time: Date.now() };
    }
  };
