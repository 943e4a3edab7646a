/**
 * Before catalogue entries are removed, checks whether contacts or events use them. After a forced removal, removes the
 * entries from contacts, in small steps.
 */

import { scrub } from '../../../logging/scrub.ts';
import { Refusal } from '../../../shared/refusal.ts';
import {
  type CatalogueKind,
  type Catalogues,
  type ContactChange,
  type ContactSearch,
  catalogueKinds,
  type FoundContacts,
  type Store,
} from '../../../store/store.ts';

const idField = { profile: 'profileID', tag: 'tagID', attr: 'attrID', event: 'eventID' } as const;

type Reads = Pick<Store, 'searchContact' | 'getEvents' | 'getEventDefinitions'>;

const hasContact = async (store: Reads, search: Omit<ContactSearch, 'limit'>): Promise<boolean> =>
  (await store.searchContact({ ...search, limit: 1 })).contacts.length > 0;

const hasEvent = async (store: Reads, account: number, attrID: string): Promise<boolean> => {
  for (let beyond: number | undefined; ; ) {
    const { events, next } = await store.getEvents({ account, attrID, order: 'desc', limit: 1, beyond });
    if (events.length > 0 || next === null) return events.length > 0;
    beyond = next;
  }
};

/** Returns a function that checks whether an ID is in use. It reads the event counts once for all eventIDs. */
const createIsUsed = (store: Reads, account: number) => {
  let counts: ReturnType<Reads['getEventDefinitions']> | undefined;
  return async (kind: CatalogueKind, id: string): Promise<boolean> => {
    if (kind === 'profile') return hasContact(store, { account, contactProfileID: id });
    if (kind === 'tag') return hasContact(store, { account, contactTagID: id });
    if (kind === 'attr') return (await hasContact(store, { account, attrID: id })) || hasEvent(store, account, id);
    counts ??= store.getEventDefinitions(account);
    return (await counts).some(({ eventID, count }) => String(eventID) === id && count > 0);
  };
};

/** Throws Refusal('id_in_use') if an entry to remove without force is in use. */
export const checkRemovals = async (store: Reads, account: number, catalogues: Catalogues): Promise<void> => {
  const isUsed = createIsUsed(store, account);
  for (const kind of catalogueKinds) {
    for (const [index, { id, remove, force }] of (catalogues[kind] ?? []).entries()) {
      if (!remove || force || id === null || !(await isUsed(kind, id))) continue;
      const field = `${kind}[${index}].${idField[kind]}`;
      throw new Refusal('id_in_use', {
        field,
        message: `\`${field}\` is ${kind} ${scrub(id)}, which is in use by ${kind === 'event' ? 'an event' : 'a contact or an event'}; nothing was changed`,
      });
    }
  }
};

/** How many contacts are changed concurrently: few, because other writes wait for these changes. */
const contactsPerStep = 100;

type Withdrawal = Pick<ContactChange, 'fields' | 'removedTags' | 'attributes'>;

const withdrawals: Record<Exclude<CatalogueKind, 'event'>, (id: string) => Partial<Withdrawal>> = {
  profile: () => ({ fields: { contactProfileID: null } }),
  tag: (id) => ({ removedTags: [id] }),
  attr: (id) => ({ attributes: [[id, null]] }),
};
const searches = {
  profile: (id: string) => ({ contactProfileID: id }),
  tag: (id: string) => ({ contactTagID: id }),
  attr: (id: string) => ({ attrID: id }),
};

/**
 * Finishes a forced removal from the catalogues: removes the profiles, tags and attributes from every contact that has
 * them in its own record or through a claim. Retrying an interrupted request resumes where it stopped.
 */
export const removeFromContacts = async (
  store: Pick<Store, 'searchContact' | 'updateContact'>,
  { account, catalogues, time }: { account: number; catalogues: Catalogues; time: number },
): Promise<void> => {
  const withdraw = (contactUUID: string, change: Partial<Withdrawal>) =>
    store
      .updateContact({
        account,
        contactUUID,
        fields: {},
        addedTags: [],
        removedTags: [],
        attributes: [],
        ...change,
        time,
      })
      .catch((error: unknown) => {
        // A contact that was erased in the meantime has nothing to remove.
        if (!(error instanceof Refusal && error.code === 'erased_contact')) throw error;
      });
  for (const kind of ['profile', 'tag', 'attr'] as const) {
    for (const { id, remove, force } of catalogues[kind] ?? []) {
      if (!remove || !force || id === null) continue;
      const search = { account, ...searches[kind](id), limit: contactsPerStep };
      for (let beyond: ContactSearch['beyond'] | null; beyond !== null; ) {
        const { contacts, next }: FoundContacts = await store.searchContact({ ...search, beyond });
        await Promise.all(contacts.map(({ contactUUID }) => withdraw(contactUUID, withdrawals[kind](id))));
        beyond = next;
      }
    }
  }
};
