import { type Attributes, toAttributesJSON } from './attributes.ts';
import { guard } from './guard.ts';
import { toJSONText } from './json.ts';
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
export const toContactRecord = (fields: Record<string, unknown>, requestUUID: string): StoredRecord =>
  `{${Object.keys(fields)
    .map(
      guard(
        (field) =>
          `${toJSONText(field)}:${field === 'contactAttr' ? toAttributesJSON(fields[field]) : toJSONText(fields[field])},`,
      ),
    )
    .join('')}"requestUUID":"${requestUUID}"}`;

/** Whether there is a contact's record in this line, or in one of these: it ends in a text, an event in an array. */
export const isContactRecord = (lines: string | string[]): boolean => /"}(\n|$)/.test(lines as string);
