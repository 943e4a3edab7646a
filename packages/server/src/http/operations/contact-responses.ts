/** Converts contacts, claims, links and merges to the form that responses use. */
import type { OutputOf } from '@firsthand/contract/operations';
import type {
  ClaimDetail,
  ContactDetail,
  ContactImport,
  ContactRecord,
  LinkDetail,
  MergeDetail,
} from '../../store/store.ts';
import { isoTime } from '../responses/iso-time.ts';

type ContactResponse = OutputOf<'getContact'>['contact'];

const attributesResponse = (attributes: ContactDetail['attributes']) =>
  attributes.map(([attrID, attrValue]) => ({ attrID, attrValue }));

const recordResponse = (record: ContactRecord): Omit<ContactResponse, 'tag' | 'contactAttr'> => ({
  contactUUID: record.contactUUID,
  ...record.fields,
  contactProfileName: record.contactProfileName,
  contactStatus: record.contactStatus,
  createdTime: isoTime(record.createdTime),
  updatedTime: isoTime(record.updatedTime),
  claimed: [...record.claimed],
});

export const contactResponse = (contact: ContactDetail): ContactResponse => ({
  ...recordResponse(contact),
  tag: contact.tags.map(({ tagID, tagName, opt }) => ({ tagID, tagName, opt })),
  contactAttr: attributesResponse(contact.attributes),
});

export const claimResponse = (claim: ClaimDetail): OutputOf<'exportContact'>['claim'][number] => ({
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
    contactAttr: attributesResponse(claim.attributes),
  },
});

export const linkResponse = (link: LinkDetail): OutputOf<'exportContact'>['link'][number] => ({
  linkID: link.linkID,
  userUUID: link.userUUID,
  contactUUID: link.contactUUID,
  linkTime: isoTime(link.linkTime),
  verified: link.verified,
  voided: link.voided,
  current: link.current,
});

export const importResponse = ({
  importID,
  importName,
  createdTime,
  isCreated,
  changes,
}: ContactImport): OutputOf<'exportContact'>['import'][number] => ({
  ...{ importID, importName, importedTime: isoTime(createdTime), created: isCreated },
  change: [...changes],
});

export const mergeResponse = ({ contactUUID, fields, intoContactUUID, mergedTime }: MergeDetail) => ({
  contactUUID,
  contactExternalID: fields.contactExternalID,
  contactFirstname: fields.contactFirstname,
  contactLastname: fields.contactLastname,
  contactEmailaddress: fields.contactEmailaddress,
  intoContactUUID,
  mergedTime: isoTime(mergedTime),
});
