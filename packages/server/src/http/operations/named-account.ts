import { Refusal } from '../../refusal.ts';
import type { Store } from '../../store/store.ts';
import type { Caller } from '../access/caller.ts';

/**
 * The account that a request is about: the token's own, or for an operator the one that accountUUID names. Throws Refusal if an
 * operator names none, or if accountUUID is unknown or not the token's own.
 */
export const namedAccount = async (
  store: Pick<Store, 'findAccount'>,
  { access }: Caller,
  accountUUID: string | undefined,
): Promise<number> => {
  if (accountUUID === undefined) {
    if (access.account !== null) return access.account;
    throw new Refusal('missing_field', {
      field: 'accountUUID',
      message: '`accountUUID` is required with an operator token',
    });
  }
  const account = await store.findAccount(accountUUID);
  const another = access.account !== null && account !== access.account;
  if (account === undefined || another) throw new Refusal('unknown_account', { field: 'accountUUID' });
  return account;
};
