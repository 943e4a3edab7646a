/** Lists merged contacts for an export. */
import { followMerges } from '../../identity/merges.ts';
import type { MergedContact, RequestOf } from '../store.ts';
import { all, db, type Operation } from './operation.ts';

export function* listMergedContacts({ account }: RequestOf<'listMergedContacts'>): Operation<MergedContact[]> {
  const rows = yield* all(
    db
      .selectFrom('contact')
      .innerJoin('contact as target', (join) =>
        join.onRef('target.contact', '=', 'contact.mergedInto').onRef('target.account', '=', 'contact.account'),
      )
      .select(['contact.contact', 'contact.contactUUID', 'target.contact as into', 'target.contactUUID as intoUUID'])
      .where('contact.account', '=', account)
      // Excludes erased contacts, which SQLite merges into themselves.
      .whereRef('contact.mergedInto', '<>', 'contact.contact'),
  );
  const follow = followMerges(new Map(rows.map(({ contact, into }) => [contact, into])));
  const contactUUIDs = new Map(rows.map(({ into, intoUUID }) => [into, intoUUID]));
  return rows.map(({ contact, contactUUID }) => ({
    contactUUID,
    ownerUUID: contactUUIDs.get(follow(contact)) as string,
  }));
}
