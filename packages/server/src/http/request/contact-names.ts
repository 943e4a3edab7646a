/** How requests name contacts: by contactUUID, by the customer's own ID or by e-mail address. The first that is given counts. */
import type { Problem } from '@firsthand/contract/answer';
import type { InputOf } from '@firsthand/contract/operations';
import { parseAddress } from '../../identity/email-address.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { NamedContact, NamedOther } from '../../store/store.ts';
import type { Caller } from '../access/caller.ts';

/** The canonical form of an e-mail address in a request. Throws Refusal('invalid_field') if it is none. */
export const addressOf = (text: string, field = 'contactEmailaddress'): string => {
  const address = parseAddress(text);
  if (address !== undefined) return address;
  throw new Refusal('invalid_field', addressProblem(field));
};

export const addressProblem = (field: string): Problem => ({
  code: 'invalid_field',
  message: `\`${field}\` must be an e-mail address`,
  field,
});

type Naming = Pick<InputOf<'updateContact'>, 'contactUUID' | 'contactExternalID' | 'contactEmailaddress'>;

/** The contact that a request names, in the form that the store takes. */
export const named = (
  account: number,
  { contactUUID, contactExternalID, contactEmailaddress }: Naming,
): NamedContact => ({
  account,
  contactUUID,
  externalID: contactExternalID,
  address: contactEmailaddress === undefined ? undefined : addressOf(contactEmailaddress),
});

/** As `named`, for the contact that is or was merged into another one. */
export const namedOther = (input: InputOf<'unmergeContact'>): NamedOther => ({
  otherContactUUID: input.otherContactUUID,
  otherExternalID: input.otherContactExternalID,
  otherAddress:
    input.otherContactEmailaddress === undefined
      ? undefined
      : addressOf(input.otherContactEmailaddress, 'otherContactEmailaddress'),
});

/**
 * The problem if a browser token names a contact otherwise than by its handle, whether or not there is such a contact: a page must
 * not learn that. `at` is the path of the fields.
 */
export const pageNameProblem = (isPage: boolean, input: Naming, at = ''): Problem | undefined => {
  if (!isPage) return undefined;
  const name = (['contactExternalID', 'contactEmailaddress'] as const).find(
    (field) => typeof input[field] === 'string',
  );
  if (name === undefined) return undefined;
  const field = `${at}${name}`;
  return {
    code: 'token_kind',
    message: `\`${field}\` names a contact with a server or viewer token; with a browser token use the handle, as \`contactUUID\``,
    field,
  };
};

/** Throws the Refusal of `pageNameProblem`. */
export const refusePageNames = ({ access }: Pick<Caller, 'access'>, input: Naming): void => {
  const problem = pageNameProblem(access.kind === 'browser', input);
  if (problem) throw new Refusal(problem.code, problem);
};
