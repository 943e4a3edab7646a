/** importContacts: stores or checks the contacts in a file. */
import { check } from '@firsthand/contract/checking';
import { importedContact } from '@firsthand/contract/import';
import type { OutputOf } from '@firsthand/contract/operations';
import type { ImportOutcome, Store } from '../../store/store.ts';
import { type Caller, type Handlers, toStoreCaller } from '../access/caller.ts';
import { findDefaultProfile } from '../segment/contacts.ts';
import { isStep, type SentRecord, splitOutcomes } from './import-outcomes.ts';
import { isNewContact, toNewContact } from './new-contact.ts';

const toStep = (sent: unknown, caller: Caller): SentRecord => {
  const checked = check(importedContact, sent);
  if (!checked.ok) return checked.problem;
  const contact = toNewContact(checked.value, caller);
  return isNewContact(contact) ? { contact, contactStatus: checked.value.contactStatus } : contact;
};

const toResponse = (
  sent: readonly SentRecord[],
  outcomes: readonly ImportOutcome[],
  position: number,
): OutputOf<'importContacts'> => {
  const { accepted, refusal } = splitOutcomes(sent, outcomes);
  const stored = accepted.filter(({ kept }) => kept);
  const created = stored.filter((outcome) => 'created' in outcome && outcome.created).length;
  return {
    ...{ position, created, changed: stored.length - created },
    ...{ unchanged: accepted.length - stored.length, refused: refusal.length, refusal },
  };
};

export const createImportContacts = (
  store: Pick<Store, 'addToImport' | 'previewImport' | 'listCatalogue'>,
): Handlers<'importContacts'> => ({
  importContacts: async (
    { importID = '', position = 0, contact, contactProfileID, isLast = false, dryRun = false },
    caller,
  ) => {
    const sent = contact.map((each) => toStep(each, caller));
    const batch = {
      ...toStoreCaller(caller),
      receivedTime: caller.time,
      defaultProfileID: contactProfileID ?? (await findDefaultProfile(store, caller)),
      replaces: true,
      steps: sent.filter(isStep),
    };
    if (dryRun) return toResponse(sent, await store.previewImport(batch), position + contact.length);
    const place = { importID, kind: 'contacts', position, records: contact.length, isLast } as const;
    const { import: advanced, outcomes } = await store.addToImport({ ...batch, ...place });
    // Nothing was stored, because the import continues at a different position.
    if (outcomes === null) return toResponse([], [], advanced.position);
    return toResponse(sent, outcomes, advanced.position);
  },
});
