/** Digests an account's data, to compare the contents of two stores. */
import { createHash } from 'node:crypto';
import { endOfTime } from '@firsthand/contract/fields';
import { limits } from '@firsthand/contract/limits';
import type { ContactDetail, FoundContacts, ListPositions, SearchPosition, Store } from './store.ts';

const perPage = 1_000;

/** Serializes a value as JSON with sorted property names, so that equal values have equal text. */
const toText = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );

/**
 * Digests an account's settings, segments, views, goals, notes, share links, events and contacts, as reads return
 * them. `checksum` is the hex SHA-256 of all results.
 */
export const digestAccount = async (
  store: Store,
  { account, accountUUID }: { account: number; accountUUID: string },
) => {
  const hash = createHash('sha256');
  const add = (result: unknown) => hash.update(toText(result));
  // `storedBytes` is an estimate that differs between the drivers.
  const { storedBytes, ...detail } = await store.getAccount(account);
  add(detail);
  add(await store.getEventDefinitions(account));
  add(await store.listSegments({ account }));
  add(await store.listViews({ account }));
  add(await store.listGoals({ account }));
  add(await store.listNotes({ account, from: 0, to: endOfTime, limit: limits.notesPerAccount }));
  add(await store.listShareLinks({ account, views: true }));
  let events = 0;
  for (let beyond: number | undefined; ; ) {
    const page = await store.getEvents({ account, order: 'asc', limit: perPage, beyond });
    for (const event of page.events) add(event);
    events += page.events.length;
    if (page.next === null) break;
    beyond = page.next;
  }
  let contacts = 0;
  for (let beyond: SearchPosition | null | undefined; beyond !== null; ) {
    const page: FoundContacts = await store.searchContact({ account, limit: perPage, beyond });
    for (const { contactUUID } of page.contacts) {
      const caller = { account, token: 0, browser: false, include: ['claim', 'link', 'merge'] as const };
      let after: ListPositions | undefined;
      do {
        const contact: ContactDetail = await store.getContact({ ...caller, contactUUID, beyond: after });
        add(contact);
        after = contact.next;
      } while (after && (after.claim !== null || after.link !== null));
    }
    contacts += page.contacts.length;
    beyond = page.next;
  }
  return { accountUUID, events, contacts, checksum: hash.digest('hex') };
};
