import { type Attributes, toAttributesJSON } from './attributes.ts';
import { readJSONText, toJSONText } from './json.ts';
import type { StoredRecord } from './queue.ts';

/** What createContact takes: the published fields; the token, the userUUID and the requestUUID are added here. */
export type ContactFields = {
  readonly contactEmailaddress: string;
  readonly contactProfileID: string;
  readonly contactTitle?: string;
  readonly contactFirstname?: string;
  readonly contactLastname?: string;
  readonly contactTelephone?: string;
  readonly contactMobile?: string;
  readonly contactJobRole?: string;
  /** Tag identifiers, separated by commas. */
  readonly contactTagID?: string;
  readonly contactAttr?: Attributes;
  /** Made by the site's own server; verifies the address at once. */
  readonly contactProof?: string;
};

/** `contactUUID` is a handle: it stands for what this browser said, with this token only. */
export type ContactResult = { readonly exists: boolean; readonly contactUUID: string };

/** Why the service refused: its `error.code`, its message, and the field it is about. */
export type TrackerError = Error & { readonly code?: string; readonly field?: string };

/** A createContact body without its token and user. */
export const toContactRecord = (fields: unknown, requestUUID: string): StoredRecord => {
  let record = `{"requestUUID":"${requestUUID}"`;
  for (const field of Object.keys(fields as object)) {
    const value =
      field === 'contactAttr' ? toAttributesJSON((fields as ContactFields)[field]) : readJSONText(fields, field);
    if (value) record += `,${toJSONText(field)}:${value}`;
  }
  return `${record}}`;
};

/** Events begin with their eventID. */
export const isContactRecord = (record: StoredRecord): boolean => record[2] === 'r';
