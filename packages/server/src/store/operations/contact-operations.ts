/** The operations that write contacts, links and claims, accounts with their contacts, and imported records. */
import type { RequestOf, Store } from '../store.ts';
import { createAccount, updateAccount } from './accounts.ts';
import { addToImport } from './add-to-import.ts';
import { changeAudience } from './audiences.ts';
import { acceptClaim, voidClaim } from './claims.ts';
import type { ContactParts } from './contact-store.ts';
import { updateContact } from './contact-writes.ts';
import { createContact } from './create-contact.ts';
import { linkUser, unlinkUser, voidLinks } from './links.ts';
import { mergeContact, unmergeContact } from './merges.ts';
import { noticeQuota, noticeRefusals } from './notices.ts';
import type { Operation } from './operation.ts';

const writes = {
  createAccount,
  updateAccount,
  createContact,
  updateContact,
  linkUser,
  unlinkUser,
  voidLinks,
  acceptClaim,
  voidClaim,
  mergeContact,
  unmergeContact,
  addToImport,
  changeAudience,
  noticeRefusals,
  noticeQuota,
};
export type ContactWrite = keyof typeof writes;
export const contactWriteNames = Object.keys(writes) as ContactWrite[];

type ContactOperation<Name extends ContactWrite> = (
  parts: ContactParts,
  request: RequestOf<Name>,
) => Operation<Awaited<ReturnType<Store[Name]>>>;

export const contactWrites: { readonly [Name in ContactWrite]: ContactOperation<Name> } = writes;
