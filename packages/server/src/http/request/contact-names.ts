/**
 * How requests identify contacts: by contactUUID, by the customer's own ID or by e-mail address, in this order of
 * precedence.
 */

import type { InputOf } from '@firsthand/contract/operations';
import type { Problem } from '@firsthand/contract/response';
import { parseAddress } from '../../identity/email-address.ts';
import { Refusal } from '../../shared/refusal.ts';
import type { NamedContact, NamedOther } from '../../store/store.ts';
import type { Caller } from '../access/caller.ts';

/** Returns the canonical form of an e-mail address in a request. Throws Refusal('invalid_field') if it is not one. */
export const toCanonicalAddress = (text: string, field = 'contactEmailaddress'): string => {
  const address = parseAddress(text);
  if (address !== undefined) return address;
  throw new Refusal('invalid_field', addressProblem(field));
};

export const addressProblem = (field: string): Problem => ({
  code: 'invalid_field',
  message: `\`${field}\` must be an e-mail address`,
  field,
});

type ContactNames = Pick<InputOf<'updateContact'>, 'contactUUID' | 'contactExternalID' | 'contactEmailaddress'>;

/** Returns the contact in a request, in the form that the store expects. */
export const toNamedContact = (
  account: number,
  { contactUUID, contactExternalID, contactEmailaddress }: ContactNames,
): NamedContact => ({
  account,
  contactUUID,
  externalID: contactExternalID,
  address: contactEmailaddress === undefined ? undefined : toCanonicalAddress(contactEmailaddress),
});

/** Like `toNamedContact`, for the contact that is merged into another, or was. */
export const toNamedOther = (input: InputOf<'unmergeContact'>): NamedOther => ({
  otherContactUUID: input.otherContactUUID,
  otherExternalID: input.otherContactExternalID,
  otherAddress:
    input.otherContactEmailaddress === undefined
      ? undefined
      : toCanonicalAddress(input.otherContactEmailaddress, 'otherContactEmailaddress'),
});

/**
 * Returns a problem if a browser token refers to a contact other than by its handle. It doesn't depend on whether the
 * contact exists, which a page must not learn. `at` is the path of the fields.
 */
export const pageNameProblem = (isPage: boolean, input: ContactNames, at = ''): Problem | undefined => {
  if (!isPage) return undefined;
  const name = (['contactExternalID', 'contactEmailaddress'] as const).find(
    (field) => typeof input[field] === 'string',
  );
  if (name === undefined) return undefined;
  const field = `${at}${name}`;
  return {
    code: 'token_kind',
    message: `\`${field}\` requires a server or viewer token; with a browser token, send the handle as \`contactUUID\``,
    field,
  };
};

/** Throws the problem of `pageNameProblem` as a Refusal. */
export const refusePageNames = ({ access }: Pick<Caller, 'access'>, input: ContactNames): void => {
  const problem = pageNameProblem(access.kind === 'browser', input);
  if (problem) throw new Refusal(problem.code, problem);
};
