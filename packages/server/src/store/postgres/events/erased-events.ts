/** Finds events of erased contacts that are not deleted yet, so that reads can hide them. */
import type { AccountConnection } from '../database/connection.ts';

interface HasHolder {
  readonly holder: number;
}

export type IsErased = (event: HasHolder & { readonly sequence: number }) => boolean;

/** Returns a function that reports whether an event of one of these holders is erased. */
export const readErased = async (db: AccountConnection, items: readonly HasHolder[]): Promise<IsErased> => {
  const holders = [...new Set(items.map(({ holder }) => holder))];
  const [stretches, contacts] = await Promise.all([
    db.all<{ user: number; after: number; through: number }>(
      'SELECT "user", after, through FROM erased_stretch WHERE account = $1 AND "user" = ANY ($2::bigint[])',
      [db.account, holders.filter((holder) => holder > 0)],
    ),
    db.all<{ contact: number }>(
      'SELECT contact FROM erased_contact WHERE account = $1 AND contact = ANY ($2::bigint[])',
      [db.account, holders.filter((holder) => holder < 0).map((holder) => -holder)],
    ),
  ]);
  const erasedContacts = new Set(contacts.map(({ contact }) => contact));
  return ({ holder, sequence }) =>
    holder < 0
      ? erasedContacts.has(-holder)
      : stretches.some(({ user, after, through }) => user === holder && after < sequence && sequence <= through);
};
