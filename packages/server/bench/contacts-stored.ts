/** A database with many contacts, created by updateAccount, 1,000 at once. */
import { openBenchmark } from './account.ts';
import { createFlight, eventsPerBatch, insist } from './filling.ts';
import { type Remembered, remember } from './remembered.ts';
import { settle } from './settling.ts';
import { contactAddress, contactName } from './visits.ts';

const fill = async (path: string, contacts: number): Promise<{ contacts: number }> => {
  const { store, asker } = await openBenchmark(path);
  try {
    const flight = createFlight();
    for (let made = 0; made < contacts; made += eventsPerBatch) {
      const batch = Array.from({ length: Math.min(eventsPerBatch, contacts - made) }, (_, nth) => ({
        newContactUUID: contactName(made + nth),
        address: contactAddress(made + nth),
        fields: { contactFirstname: 'Visitor', contactLastname: String(made + nth) },
        addedTags: [],
        removedTags: [],
        attributes: [],
      }));
      const time = Date.now();
      await flight.add(async () => {
        const { contacts: outcomes } = await insist(() =>
          store.updateAccount({ account: asker.account, catalogues: {}, contacts: batch, time }),
        );
        const refused = outcomes.find((outcome) => 'refused' in outcome);
        if (refused) throw new Error(`a contact was not made: ${JSON.stringify(refused)}`);
      });
    }
    await flight.end();
    await settle();
    return { contacts };
  } finally {
    await store.close();
  }
};

/** Opens the database with this many contacts, numbered from 0. */
export const openContacts = (contacts: number): Promise<Remembered<{ contacts: number }>> =>
  remember(`${contacts}-contacts`, (path) => fill(path, contacts));
