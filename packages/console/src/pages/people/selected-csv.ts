/** The selected contacts as CSV, with the same columns as the API's CSV of all contacts. */
import { toFile } from '../../parts/csv.ts';
import { type ContactResult, textFields } from '../../reading/contact-values.ts';

export const fileOfContacts = (contacts: readonly ContactResult[]) => {
  const attributes = [...new Set(contacts.flatMap(({ contactAttr }) => contactAttr.map(({ attrID }) => attrID)))];
  const names = Object.keys(textFields) as (keyof typeof textFields)[];
  return toFile(
    [
      'contactUUID',
      ...names,
      ...['contactProfileID', 'contactProfileName', 'tag'],
      ...attributes.map((attrID) => `contactAttr.${attrID}`),
      ...['contactStatus', 'createdTime', 'lastSeenTime'],
    ],
    contacts.map((contact) => [
      contact.contactUUID,
      ...names.map((name) => contact[name]),
      contact.contactProfileID,
      contact.contactProfileName,
      contact.tag.map(({ tagName }) => tagName).join('; '),
      ...attributes.map((attrID) => contact.contactAttr.find((one) => one.attrID === attrID)?.attrValue),
      contact.contactStatus,
      contact.createdTime,
      contact.lastSeenTime,
    ]),
  );
};
