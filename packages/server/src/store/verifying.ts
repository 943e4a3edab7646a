/** Whether two stores hold the same: all that can be asked of each is asked of both, account by account. */
import { createHash } from 'node:crypto';
import type { ContactDetail, ListEnds, Store } from './store.ts';

export interface AccountDigest {
  readonly accountUUID: string;
  readonly events: number;
  readonly contacts: number;
  /** SHA-256 of all that was answered, hex. */
  readonly checksum: string;
}

const perPage = 1_000;

/** The same text for the same value, whatever order its names were given in. */
const toText = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );

/** What an account is, and every event and contact of it, as a read tells them: owners, links and claims included. */
export const digestAccount = async (
  store: Store,
  { account, accountUUID }: { account: number; accountUUID: string },
): Promise<AccountDigest> => {
  const hash = createHash('sha256');
  const add = (answer: unknown) => hash.update(toText(answer));
  // Each driver estimates by its own rows.
  const { storedBytes, ...detail } = await store.getAccount(account);
  add(detail);
  add(await store.getEventDefinitions(account));
  let events = 0;
  for (let beyond: number | undefined; ; ) {
    const page = await store.getEvents({ account, order: 'asc', limit: perPage, beyond });
    for (const event of page.events) add(event);
    events += page.events.length;
    if (page.next === null) break;
    beyond = page.next;
  }
  let contacts = 0;
  for (let beyond: number | null = 0; beyond !== null; ) {
    const page = await store.searchContact({ account, limit: perPage, beyond });
    for (const { contactUUID } of page.contacts) {
      const asker = { account, token: 0, browser: false, include: ['claim', 'link'] as const };
      for (let after: ListEnds | undefined, isLast = false; !isLast; ) {
        const contact: ContactDetail = await store.getContact({ ...asker, contactUUID, beyond: after });
        add(contact);
        after = contact.next;
        isLast = after === undefined || (after.claim === null && after.link === null);
      }
    }
    contacts += page.contacts.length;
    beyond = page.next;
  }
  return { accountUUID, events, contacts, checksum: hash.digest('hex') };
};
