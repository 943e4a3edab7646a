/** Converts a row to a contact for importContacts. */
import { attrIDOf, type ColumnMapping, type ContactTarget } from './columns.ts';

/** A contact as importContacts accepts it, without empty values. */
export type ImportedContact = Readonly<Record<string, unknown>>;

/** A row that can't be imported. */
export interface RowProblem {
  /** The column with the problem. */
  readonly column?: string;
  readonly problem: string;
}

const unsubscribed = new Set(['unsubscribed', 'true', '1', 'on', 'yes']);
const subscribed = new Set(['subscribed', 'never_subscribed', 'false', '0', 'off', 'no']);
const timestamp = /^\d{4}-\d\d-\d\d/;

/** Returns a contactStatus; '' if the cell contains none, undefined if the cell is not recognized. */
const toStatus = (text: string): string | undefined => {
  const word = text.toLowerCase();
  if (word === 'active' || word === 'archived') return word;
  // Mailchimp's file of unsubscribed contacts has the time at which they unsubscribed.
  if (unsubscribed.has(word) || timestamp.test(word)) return 'unsubscribed';
  return word === '' || subscribed.has(word) ? '' : undefined;
};

/** Mautic separates tags with `|`, Firsthand's own export with `;`, and Mailchimp writes `"VIP","Blog"`. */
const toTagIDs = (text: string): string =>
  text
    .split(/[|;,]/)
    .map((tag) =>
      tag
        .trim()
        .replaceAll(/^"+|"+$/g, '')
        .trim(),
    )
    .filter((tag) => tag !== '')
    .join(',');

/** Removes the apostrophe that keeps a spreadsheet from reading a cell as a formula. */
const toText = (cell: unknown): string =>
  String(cell ?? '')
    .trim()
    .replace(/^'(?=[=+\-@＝＋－＠])/, '');

/** Returns a row's contact, or the reason that it has none. An empty cell does not change a value. */
export const toContact = (
  row: Readonly<Record<string, unknown>>,
  columns: ColumnMapping,
): { readonly contact: ImportedContact } | RowProblem => {
  const contact: Record<string, unknown> = {};
  const attributes: { readonly attrID: string; readonly attrValue: string }[] = [];
  for (const [column, target] of columns) {
    const text = toText(row[column]);
    const attrID = attrIDOf(target);
    if (text === '') continue;
    if (attrID !== undefined) attributes.push({ attrID, attrValue: text });
    else if (target === 'contactTagID') contact[target] = toTagIDs(text);
    else if (target === 'contactStatus') {
      const status = toStatus(text);
      if (status === undefined)
        return { column, problem: 'must be active, archived, unsubscribed, true, false, a time, or empty' };
      if (status !== '') contact[target] = status;
    } else contact[target] = text;
  }
  if (attributes.length > 0) contact.contactAttr = attributes;
  if (contact.contactEmailaddress === undefined && contact.contactExternalID === undefined)
    return { problem: 'the row has neither an e-mail address nor your own ID' };
  return { contact };
};

/** Returns the column of a field that the server refused, such as `contact[3].contactAttr[0].attrID`. */
export const columnOf = (columns: ColumnMapping, contact: ImportedContact, field: string): string | undefined => {
  const attribute = /contactAttr\[(\d+)\]/.exec(field)?.[1];
  const attributes = (contact.contactAttr ?? []) as readonly { readonly attrID: string }[];
  const target =
    attribute === undefined
      ? /contact[A-Z]\w*/.exec(field)?.[0]
      : (`contactAttr.${attributes[Number(attribute)]?.attrID}` as ContactTarget);
  return [...columns].find(([, each]) => each === target)?.[0];
};
