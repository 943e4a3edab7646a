/** importContacts: stores the contacts of a file, or checks them. */
import type { Problem } from '@firsthand/contract/answer';
import { check } from '@firsthand/contract/checking';
import { importedContact } from '@firsthand/contract/import';
import type { AnswerOf } from '@firsthand/contract/operations';
import { nanoid } from 'nanoid';
import { parseAddress } from '../../identity/email-address.ts';
import { contactValues } from '../../ingest/contact-change.ts';
import type { ImportOutcome, ImportStep, Store } from '../../store/store.ts';
import { type AnsweringAll, type Caller, toStoreCaller } from '../access/caller.ts';
import { addressProblem } from '../request/contact-names.ts';
import { findDefaultProfile } from '../segment/contacts.ts';

const toStep = (sent: unknown, caller: Caller): ImportStep | Problem => {
  const checked = check(importedContact, sent);
  if (!checked.ok) return checked.problem;
  const { contactExternalID: externalID, contactEmailaddress, contactProfileID = '', contactStatus } = checked.value;
  const address = contactEmailaddress === undefined ? undefined : parseAddress(contactEmailaddress);
  if (contactEmailaddress !== undefined && address === undefined) return addressProblem('contactEmailaddress');
  return {
    contact: {
      ...toStoreCaller(caller),
      userUUID: null,
      externalID,
      address,
      ...contactValues({ ...checked.value, contactProfileID }),
      verified: true,
      requestUUID: null,
      newContactUUID: nanoid(),
      newHandle: nanoid(),
      time: caller.time,
    },
    contactStatus,
  };
};

const isStep = (step: ImportStep | Problem): step is ImportStep => 'contact' in step;

const toAnswer = (
  sent: readonly (ImportStep | Problem)[],
  outcomes: readonly ImportOutcome[],
  position: number,
): AnswerOf<'importContacts'> => {
  const answer = { position, created: 0, changed: 0, unchanged: 0, refused: 0 };
  const refusal: AnswerOf<'importContacts'>['refusal'] = [];
  const refuse = (index: number, { code, message, field }: Problem) => {
    answer.refused += 1;
    refusal.push({ index, error: { code, message, ...(field && { field }) } });
  };
  let next = 0;
  for (const [index, step] of sent.entries()) {
    if (!isStep(step)) {
      refuse(index, step);
      continue;
    }
    const outcome = outcomes[next++] as ImportOutcome;
    if ('refused' in outcome) refuse(index, { ...outcome, code: outcome.refused });
    else if (!outcome.kept) answer.unchanged += 1;
    else if ('created' in outcome && outcome.created) answer.created += 1;
    else answer.changed += 1;
  }
  return { ...answer, refusal };
};

export const createImportContacts = (
  store: Pick<Store, 'addToImport' | 'previewImport' | 'listCatalogue'>,
): AnsweringAll<'importContacts'> => ({
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
    if (dryRun) return toAnswer(sent, await store.previewImport(batch), position + contact.length);
    const place = { importID, kind: 'contacts', position, records: contact.length, isLast } as const;
    const { import: advanced, outcomes } = await store.addToImport({ ...batch, ...place });
    // Nothing was stored, because the import is at another position.
    if (outcomes === null) return toAnswer([], [], advanced.position);
    return toAnswer(sent, outcomes, advanced.position);
  },
});
