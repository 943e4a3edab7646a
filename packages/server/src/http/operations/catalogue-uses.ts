/** Checks whether a contact or an event uses an entry of a catalogue. It reads in small steps, so that writes don't wait for it. */
import { Refusal } from '../../refusal.ts';
import { scrub } from '../../scrub.ts';
import { type CatalogueKind, type Catalogues, catalogueKinds, type Store } from '../../store/store.ts';

const idField = { profile: 'profileID', tag: 'tagID', attr: 'attrID', event: 'eventID' } as const;

type Reads = Pick<Store, 'searchContact' | 'getEvents' | 'getEventDefinitions'>;

const hasContact = async (
  store: Reads,
  search: Omit<Parameters<Store['searchContact']>[0], 'limit' | 'beyond'>,
): Promise<boolean> => (await store.searchContact({ ...search, limit: 1, beyond: 0 })).contacts.length > 0;

const hasEvent = async (store: Reads, account: number, attrID: string): Promise<boolean> => {
  for (let beyond: number | undefined; ; ) {
    const { events, next } = await store.getEvents({ account, attrID, order: 'desc', limit: 1, beyond });
    if (events.length > 0 || next === null) return events.length > 0;
    beyond = next;
  }
};

/** Returns a function that says whether an ID is used. It reads the event counts once for all eventIDs. */
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

/** Throws Refusal('id_in_use') if an entry that is to be removed is in use. */
export const checkRemovals = async (store: Reads, account: number, catalogues: Catalogues): Promise<void> => {
  const isUsed = createIsUsed(store, account);
  for (const kind of catalogueKinds) {
    for (const [index, { id, remove }] of (catalogues[kind] ?? []).entries()) {
      if (!remove || id === null || !(await isUsed(kind, id))) continue;
      const field = `${kind}[${index}].${idField[kind]}`;
      throw new Refusal('id_in_use', {
        field,
        message: `\`${field}\` names ${kind} ${scrub(id)}, which ${kind === 'event' ? 'an event' : 'a contact or an event'} uses; nothing was changed`,
      });
    }
  }
};
