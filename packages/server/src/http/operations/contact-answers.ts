/** Contacts, claims, links and merges as responses show them. */
import type { OutputOf } from '@firsthand/contract/operations';
import type {
  ClaimDetail,
  ContactDetail,
  ContactImport,
  ContactRecord,
  LinkDetail,
  MergeDetail,
} from '../../store/store.ts';
import { isoTime } from '../answers/iso-time.ts';

type ContactAnswer = OutputOf<'getContact'>['contact'];

const attributesAnswer = (attributes: ContactDetail['attributes']) =>
  attributes.map(([attrID, attrValue]) => ({ attrID, attrValue }));

const recordAnswer = (record: ContactRecord): Omit<ContactAnswer, 'tag' | 'contactAttr'> => ({
  contactUUID: record.contactUUID,
  ...record.fields,
  contactProfileName: record.contactProfileName,
  contactStatus: record.contactStatus,
  createdTime: isoTime(record.createdTime),
  updatedTime: isoTime(record.updatedTime),
  claimed: [...record.claimed],
});

export const contactAnswer = (contact: ContactDetail): ContactAnswer => ({
  ...recordAnswer(contact),
  tag: contact.tags.map(({ tagID, tagName, opt }) => ({ tagID, tagName, opt })),
  contactAttr: attributesAnswer(contact.attributes),
});

export const claimAnswer = (claim: ClaimDetail): OutputOf<'exportContact'>['claim'][number] => ({
  claimID: claim.claimID,
  contactUUID: claim.contactUUID,
  userUUID: claim.userUUID,
  tokenID: claim.tokenID,
  linkID: claim.linkID,
  createdTime: isoTime(claim.createdTime),
  updatedTime: isoTime(claim.updatedTime),
  state: claim.state,
  contact: {
    ...claim.fields,
    contactProfileName: claim.contactProfileName,
    contactTagID: claim.tags.join(','),
    contactAttr: attributesAnswer(claim.attributes),
  },
});

export const linkAnswer = (link: LinkDetail): OutputOf<'exportContact'>['link'][number] => ({
  linkID: link.linkID,
  userUUID: link.userUUID,
  contactUUID: link.contactUUID,
  linkTime: isoTime(link.linkTime),
  verified: link.verified,
  voided: link.voided,
  current: link.current,
});

export const importAnswer = ({
  importID,
  importName,
  createdTime,
  isCreated,
  changes,
}: ContactImport): OutputOf<'exportContact'>['import'][number] => ({
  ...{ importID, importName, importedTime: isoTime(createdTime), created: isCreated },
  change: [...changes],
});

export const mergeAnswer = ({ contactUUID, fields, intoContactUUID, mergedTime }: MergeDetail) => ({
  contactUUID,
  contactExternalID: fields.contactExternalID,
  contactFirstname: fields.contactFirstname,
  contactLastname: fields.contactLastname,
  contactEmailaddress: fields.contactEmailaddress,
  intoContactUUID,
  mergedTime: isoTime(mergedTime),
});
