import type { StoredRecord } from '../delivery/queue.ts';
import { guard } from '../guard.ts';
import { type Attributes, type AttributesOf, toAttributesJSON } from './attributes.ts';
import { toJSONText } from './json.ts';

/** The fields of createContact. The tracker adds the token, the userUUID and the requestUUID. */
export type ContactFields<Attrs extends object = Attributes> = {
  readonly contactProfileID: string;
  readonly contactTitle?: string;
  readonly contactFirstname?: string;
  readonly contactLastname?: string;
  readonly contactTelephone?: string;
  readonly contactMobile?: string;
  readonly contactJobRole?: string;
  /** Tag identifiers, separated by commas. */
  readonly contactTagID?: string;
  readonly contactAttr?: Attrs & AttributesOf<Attrs>;
  /** A proof created by the site's own server. It immediately verifies the address or, without one, the external ID. */
  readonly contactProof?: string;
  // Last, because the compiler reports the first part that lacks a field, which should be contactProfileID.
} & (
  | { readonly contactEmailaddress: string; readonly contactExternalID?: string }
  /** The site's own ID for the contact. */
  | { readonly contactEmailaddress?: string; readonly contactExternalID: string }
);

/** The service's result. `contactUUID` is a handle for this browser's claim, and is valid with this token only. */
export type ContactResult = { readonly exists: boolean; readonly contactUUID: string };

/** The service's refusal: its error code, its message and the invalid field. */
export type TrackerError = Error & { readonly code?: string; readonly field?: string };

/** Returns the request body for createContact as JSON, without the token and the user. */
export const toContactRecord = (fields: Record<string, unknown>, requestUUID: string): StoredRecord => {
  let record = '{';
  const addField = guard((field: string) => {
    record += `${toJSONText(field)}:${(field === 'contactAttr' ? toAttributesJSON : toJSONText)(fields[field])},`;
  });
  for (const field of Object.keys(fields)) addField(field);
  return `${record}"requestUUID":"${requestUUID}"}`;
};

/** Whether any of these lines is a contact record. A contact record ends in a string, an event record in an array. */
export const isContactRecord = (lines: string | string[]): boolean => /"}(\n|$)/.test(lines as string);
