/** Recognizes repeated createContact requests by requestUUID. */
import type { RequestStore } from '../../operations/contact-store.ts';
import { requestKeyName, requestName } from '../../rules/erased-names.ts';
import { createIdempotencyKeys, tokenInKey } from '../../rules/idempotency-keys.ts';
import type { Connection } from '../database/connection.ts';
import type { Detaching } from '../erasure/detaching.ts';
import type { Dedup } from '../events/dedup.ts';
import type { Sequencer } from '../transactions/sequencer.ts';
import type { ContactFinder } from './contact-finder.ts';

interface RequestParts {
  readonly sequencer: Sequencer;
  readonly contacts: ContactFinder;
  readonly dedup: Dedup;
  readonly detaching: Detaching;
}

export const createRequestStore = (
  db: Connection,
  { sequencer, contacts, dedup, detaching }: RequestParts,
): RequestStore => {
  const { requestKey } = createIdempotencyKeys(
    db.prepare<[], Buffer>('SELECT secret FROM position').pluck().get() as Buffer,
  );
  return {
    dayOf: sequencer.dayOf,
    /** Looks up a request by its key too: requests copied from a PostgreSQL database are known by their keys only. */
    find({ account, userUUID }, { requestUUID, token, user }, day) {
      const key = requestKey({ requestUUID, token });
      const names = [requestName(token, userUUID, requestUUID), requestKeyName(user, key)];
      if (names.some((name) => contacts.findErasure(account, name) !== undefined)) return 'erased';
      const stored =
        dedup.findRequest(day, { requestUUID, token, user }) ??
        dedup.findRequest(day, { requestUUID: key, token: tokenInKey, user });
      return stored && detaching.isUnderWay(stored.contact) ? 'erased' : stored;
    },
    store: (sent, result, day) => dedup.rememberRequest(day, sent, result),
  };
};
