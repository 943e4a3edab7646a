/** createContacts: each contact is checked, stored and reported on its own. */
import type { Problem } from '@firsthand/contract/answer';
import { check } from '@firsthand/contract/checking';
import { batchContact } from '@firsthand/contract/contact';
import type { AnswerOf } from '@firsthand/contract/operations';
import { nanoid } from 'nanoid';
import { parseAddress } from '../../identity/email-address.ts';
import { contactValues } from '../../ingest/contact-change.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { NewContact, Store } from '../../store/store.ts';
import { type AnsweringAll, askerOf, type Caller } from '../access/caller.ts';
import { problemAnswer } from '../answers/answers.ts';
import { addressProblem } from '../request/contact-names.ts';

type ContactResult = AnswerOf<'createContacts'>['contact'][number];
interface Entry {
  readonly at: string;
  readonly checked: NewContact | Problem;
}

/** The contacts that are given to the store at once, so that they share commits. */
const maxConcurrent = 50;

const checkEntry = (entry: unknown, at: string, caller: Caller): NewContact | Problem => {
  const checked = check(batchContact, entry, at);
  if (!checked.ok) return checked.problem;
  const { userUUID = null, contactExternalID: externalID, contactEmailaddress } = checked.value;
  const address = contactEmailaddress === undefined ? undefined : parseAddress(contactEmailaddress);
  if (contactEmailaddress !== undefined && address === undefined) return addressProblem(`${at}.contactEmailaddress`);
  return {
    ...askerOf(caller),
    userUUID,
    externalID,
    address,
    ...contactValues(checked.value),
    verified: true,
    requestUUID: null,
    newContactUUID: nanoid(),
    newHandle: nanoid(),
    time: caller.time,
  };
};

const isContact = (checked: NewContact | Problem): checked is NewContact => 'newContactUUID' in checked;

/** The names by which the contacts and users of an entry are found. */
const namesOf = ({ externalID, address, userUUID }: NewContact): string[] => [
  ...(externalID === undefined ? [] : [`external ID ${externalID}`]),
  ...(address === undefined ? [] : [`address ${address}`]),
  ...(userUUID === null ? [] : [`user ${userUUID}`]),
];

/** Cuts the list where an external ID, an address or a user comes again: what one of two such entries writes must be there for the other. */
function* runsOf(entries: readonly Entry[]): Generator<Entry[]> {
  let run: Entry[] = [];
  const named = new Set<string>();
  for (const entry of entries) {
    const { checked } = entry;
    const names = isContact(checked) ? namesOf(checked) : [];
    if (run.length === maxConcurrent || names.some((name) => named.has(name))) {
      yield run;
      run = [];
      named.clear();
    }
    run.push(entry);
    for (const name of names) named.add(name);
  }
  yield run;
}

export const createContactBatches = (store: Pick<Store, 'createContact'>): AnsweringAll<'createContacts'> => {
  /** Throws what fails the whole request: the client then sends it again, and what was stored is found by its key. */
  const resultOf = async ({ at, checked }: Entry): Promise<ContactResult> => {
    if (!isContact(checked)) return problemAnswer(checked);
    try {
      return { status: '200', ...(await store.createContact(checked)) };
    } catch (error) {
      if (!(error instanceof Refusal) || error.code === 'unavailable') throw error;
      const { code, message, field } = error;
      return problemAnswer({ code, message, field: field === undefined ? at : `${at}.${field}` });
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
