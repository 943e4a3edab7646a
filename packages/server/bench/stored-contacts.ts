/** A database with many contacts, which updateAccount creates in batches of 1,000. */
import { openBenchmark } from './account.ts';
import { type CachedDatabase, openCached } from './cached-database.ts';
import { createLimiter, eventsPerBatch, retryUnavailable } from './fill-store.ts';
import { settle } from './settle.ts';
import { contactAddress, contactName } from './visits.ts';

const fill = async (path: string, contacts: number): Promise<{ contacts: number }> => {
  const { store, caller } = await openBenchmark(path);
  try {
    const limiter = createLimiter();
    for (let created = 0; created < contacts; created += eventsPerBatch) {
      const batch = Array.from({ length: Math.min(eventsPerBatch, contacts - created) }, (_, nth) => ({
        newContactUUID: contactName(created + nth),
        address: contactAddress(created + nth),
        fields: { contactFirstname: 'Visitor', contactLastname: String(created + nth) },
        addedTags: [],
        removedTags: [],
        attributes: [],
      }));
      const time = Date.now();
      await limiter.add(async () => {
        const { contacts: outcomes } = await retryUnavailable(() =>
          store.updateAccount({ account: caller.account, catalogues: {}, contacts: batch, time }),
        );
        const refused = outcomes.find((outcome) => 'refused' in outcome);
        if (refused) throw new Error(`a contact was refused: ${JSON.stringify(refused)}`);
      });
    }
    await limiter.end();
    await settle();
    return { contacts };
  } finally {
    await store.close();
  }
};

/** Opens a database with the given number of contacts, numbered from 0. */
export const openContacts = (contacts: number): Promise<CachedDatabase<{ contacts: number }>> =>
  openCached(`${contacts}-contacts`, (path) => fill(path, contacts));
