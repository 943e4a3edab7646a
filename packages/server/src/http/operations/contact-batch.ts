/** createContacts: validates, stores and reports each contact separately. */

import { check } from '@firsthand/contract/checking';
import { batchContact } from '@firsthand/contract/contact';
import type { OutputOf } from '@firsthand/contract/operations';
import type { Problem } from '@firsthand/contract/response';
import { Refusal } from '../../shared/refusal.ts';
import type { NewContact, Store } from '../../store/store.ts';
import type { Caller, Handlers } from '../access/caller.ts';
import { problemResult } from '../responses/responses.ts';
import { isNewContact, toNewContact } from './new-contact.ts';

type ContactResult = OutputOf<'createContacts'>['contact'][number];
interface Entry {
  readonly at: string;
  readonly checked: NewContact | Problem;
}

/** How many contacts are sent to the store concurrently, so that they share commits. */
const maxConcurrent = 50;

const checkEntry = (entry: unknown, at: string, caller: Caller): NewContact | Problem => {
  const checked = check(batchContact, entry, at);
  if (!checked.ok) return checked.problem;
  return toNewContact(checked.value, caller, `${at}.`);
};

/** Returns the keys by which an entry identifies its contact and user. */
const keysOf = ({ externalID, address, userUUID }: NewContact): string[] => [
  ...(externalID === undefined ? [] : [`external ID ${externalID}`]),
  ...(address === undefined ? [] : [`address ${address}`]),
  ...(userUUID === null ? [] : [`user ${userUUID}`]),
];

/**
 * Splits the list before an entry that repeats an external ID, address or user, because it must see what the earlier
 * entry wrote.
 */
function* runsOf(entries: readonly Entry[]): Generator<Entry[]> {
  let run: Entry[] = [];
  const seenKeys = new Set<string>();
  for (const entry of entries) {
    const { checked } = entry;
    const keys = isNewContact(checked) ? keysOf(checked) : [];
    if (run.length === maxConcurrent || keys.some((key) => seenKeys.has(key))) {
      yield run;
      run = [];
      seenKeys.clear();
    }
    run.push(entry);
    for (const key of keys) seenKeys.add(key);
  }
  yield run;
}

export const createContactBatches = (store: Pick<Store, 'createContact'>): Handlers<'createContacts'> => {
  /**
   * Rejects with an error that fails the whole request. When the client retries, contacts that were stored are found by
   * their keys.
   */
  const resultOf = async ({ at, checked }: Entry): Promise<ContactResult> => {
    if (!isNewContact(checked)) return problemResult(checked);
    try {
      return { status: '200', ...(await store.createContact(checked)) };
    } catch (error) {
      if (!(error instanceof Refusal) || error.code === 'unavailable') throw error;
      const { code, message, field } = error;
      return problemResult({ code, message, field: field === undefined ? at : `${at}.${field}` });
    }
  };

  return {
    createContacts: async (input, caller) => {
      const entries = input.contact.map((entry, index) => {
        const at = `contact[${index}]`;
        return { at, checked: checkEntry(entry, at, caller) };
      });
      const contact: ContactResult[] = [];
      for (const run of runsOf(entries)) {
        const settled = await Promise.allSettled(run.map(resultOf));
        for (const result of settled) {
          if (result.status === 'rejected') throw result.reason;
          contact.push(result.value);
        }
      }
      return { contact };
    },
  };
};
