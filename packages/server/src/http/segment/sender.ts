import { createHmac } from 'node:crypto';
import { BoundedMap } from '../../shared/bounded-map.ts';
import type { Store } from '../../store/store.ts';
import { accountOf, type Caller } from '../access/caller.ts';
import type { Sender } from './messages.ts';

/** Returns a function that determines the sender properties that message mapping depends on. */
export const createSenders = (store: Pick<Store, 'getDatabaseKey'>): ((caller: Caller) => Promise<Sender>) => {
  const hashKeys = new BoundedMap<number, Uint8Array>(1_000);

  /** The key of the account's hashes. Never change it: a hashed anonymousId would become another user. */
  const getHashKey = async (account: number): Promise<Uint8Array> => {
    const known = hashKeys.get(account);
    if (known) return known;
    const key = createHmac('sha256', await store.getDatabaseKey())
      .update(`identifiers of Segment's messages\n${account}`)
      .digest();
    hashKeys.set(account, key);
    return key;
  };

  return async (caller) => ({
    fromBrowser: caller.access.kind === 'browser',
    hashKey: await getHashKey(accountOf(caller)),
    userIDIsEmailaddress: caller.access.userIDIsEmailaddress,
  });
};
