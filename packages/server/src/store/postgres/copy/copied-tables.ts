/** The mapping of another database's rows to the rows of each PostgreSQL table except `event`. */
import { contactFields } from '../../../identity/contact-view.ts';
import type { DatabaseExport, ExportedRow, ExportedTable, InParts } from '../../database-export.ts';
import { createIdempotencyKeys, tokenInKey, toUUID } from '../../rules/idempotency-keys.ts';
import type { CopiedValue } from './copy-rows.ts';

/** The slot of the copied rollups. */
const slot = 1;

type Values = Readonly<Record<string, CopiedValue>>;

/** The mapping of rows of the table `from` to rows of the table `to`. */
interface CopiedTable {
  readonly to: string;
  readonly from: ExportedTable;
  /** Names of columns that are copied, separated by spaces; `booleans` are 1 or 0 in `from`. */
  readonly columns: string;
  readonly booleans?: string;
  /** Names of columns that `make` computes. */
  readonly made?: readonly string[];
  readonly make?: (row: ExportedRow) => Values;
  readonly only?: (row: ExportedRow) => boolean;
}

const wordsOf = (words = ''): string[] => words.split(' ').filter((word) => word !== '');

/** Returns the names of the columns, in the order of the values in `rowsFor`. */
export const columnsOf = ({ columns, booleans, made = [] }: CopiedTable): string[] => [
  ...wordsOf(columns),
  ...wordsOf(booleans),
  ...made,
];

export async function* rowsFor(
  { from, columns, booleans, made = [], make, only }: CopiedTable,
  exported: DatabaseExport,
) {
  const same = wordsOf(columns);
  const flags = wordsOf(booleans);
  const toRow = (row: ExportedRow): CopiedValue[] => {
    const values = make?.(row) ?? {};
    return [
      ...same.map((name) => row[name] as CopiedValue),
      ...flags.map((name) => row[name] === 1),
      ...made.map((name) => values[name] as CopiedValue),
    ];
  };
  for await (const rows of exported.rows(from)) yield (only ? rows.filter(only) : rows).map(toRow);
}

/** Groups rows by contact. */
const byContact = async (rows: InParts<ExportedRow>): Promise<Map<number, ExportedRow[]>> => {
  const found = new Map<number, ExportedRow[]>();
  for await (const some of rows) {
    for (const row of some) {
      const list = found.get(row.contact as number);
      if (list) list.push(row);
      else found.set(row.contact as number, [row]);
    }
  }
  return found;
};

/** Returns a function that returns a contact's own values as JSON of `OwnValues`. */
const createStoredValues = async (exported: DatabaseExport) => {
  const tags = await byContact(exported.rows('contact_tag'));
  const attributes = await byContact(exported.rows('contact_attr'));
  return (row: ExportedRow): string => {
    const contact = row.contact as number;
    const fields = contactFields.filter((name) => name !== 'contactEmailaddress' && row[name] !== null);
    return JSON.stringify({
      fields: Object.fromEntries(fields.map((name) => [name, row[name]])),
      tags: (tags.get(contact) ?? []).map(({ tagID, opt }) => [tagID, opt === 1]),
      attributes: (attributes.get(contact) ?? []).map(({ attrID, attrValue }) => [attrID, attrValue]),
    });
  };
};

/** Returns the mappings of all tables except `event`, `contact_user` and `user_contact`. Repeats are copied for `keptDays` only. */
export const tablesOf = async (exported: DatabaseExport, keptDays: ReadonlySet<number>): Promise<CopiedTable[]> => {
  // Older repeats wait to be deleted. They may have been sent again since, and request_repeat holds each key only once.
  const isKept = ({ day }: ExportedRow) => keptDays.has(day as number);
  const { eventKey, requestKey } = createIdempotencyKeys(exported.position.secret);
  const storedValuesOf = await createStoredValues(exported);
  const accounts = new Map<unknown, CopiedValue>();
  for await (const users of exported.rows('user')) {
    for (const { user, account } of users) accounts.set(user, account as number);
  }
  return [
    {
      to: 'account',
      from: 'account',
      columns: 'account accountUUID accountName accountOrigin accountTimezone createdTime',
      booleans: 'strict browserCatalogue',
    },
    {
      to: 'token',
      from: 'token',
      columns:
        'token tokenID account kind tokenName hash text createdTime createdBy expiresTime lastUsedTime revokedTime',
    },
    { to: 'audit', from: 'audit', columns: 'audit account token action subject time' },
    { to: 'catalogue', from: 'catalogue', columns: 'account kind id name type', booleans: 'browser byBrowser' },
    { to: 'user_name', from: 'user', columns: 'userUUID account user' },
    { to: 'user', from: 'user', columns: 'user account userUUID firstDay lastDay createdTime' },
    { to: 'contact_name', from: 'contact', columns: 'contactUUID account contact' },
    { to: 'contact_address', from: 'contact', columns: 'contactEmailaddress account contact contactUUID' },
    {
      to: 'contact',
      from: 'contact',
      columns:
        'contact account contactUUID contactEmailaddress contactStatus mergedInto mergedTime firstDay lastDay createdTime updatedTime',
      booleans: 'verified',
      made: ['said'],
      make: (row) => ({ said: storedValuesOf(row) }),
    },
    {
      to: 'merged_contact',
      from: 'contact',
      columns: '',
      made: ['contact', 'other'],
      make: ({ mergedInto, contact }) => ({ contact: mergedInto as number, other: contact as number }),
      only: ({ mergedInto }) => mergedInto !== null,
    },
    { to: 'claim_name', from: 'claim', columns: 'claimID claim contact' },
    {
      to: 'claim',
      from: 'claim',
      columns: 'contact claim claimID account token user said createdTime updatedTime',
      booleans: 'accepted voided',
    },
    {
      to: 'statement',
      from: 'statement',
      columns: 'user sequence contact voided claim token time',
      booleans: 'verified erased',
      made: ['account'],
      make: ({ user }) => ({ account: accounts.get(user) as number }),
    },
    { to: 'statement_place', from: 'statement', columns: 'sequence user' },
    {
      to: 'event_repeat',
      from: 'event_repeat',
      columns: 'holder day',
      made: ['key'],
      make: ({ holder, eventUUID, server }) => ({
        key: toUUID(eventKey(holder as number, eventUUID as string, server as 0 | 1)),
      }),
      only: isKept,
    },
    {
      to: 'event_repeat',
      from: 'event_repeat_of_either',
      columns: 'holder day',
      made: ['key'],
      make: ({ holder, eventUUID }) => ({ key: toUUID(eventKey(holder as number, eventUUID as string, null)) }),
      only: isKept,
    },
    {
      // Their holders are not known, so 0 is stored.
      to: 'event_repeat',
      from: 'erased_repeat',
      columns: 'day',
      made: ['holder', 'key'],
      make: ({ hash }) => ({ holder: 0, key: (hash as Buffer).toString('hex') }),
      only: isKept,
    },
    {
      to: 'request_repeat',
      from: 'request_repeat',
      columns: 'user day contact claim',
      booleans: 'existed',
      made: ['key'],
      make: ({ requestUUID, token }) => ({
        // The request was copied from PostgreSQL before: its requestUUID is already a key.
        key:
          token === tokenInKey
            ? (requestUUID as string)
            : requestKey({ requestUUID: requestUUID as string, token: token as number }),
      }),
      only: isKept,
    },
    {
      to: 'event_total',
      from: 'event_total',
      columns: 'account eventID quarter count firstTime lastTime',
      made: ['slot'],
      make: () => ({ slot }),
    },
    {
      to: 'account_day',
      from: 'account_day',
      columns: 'account day count bytes firstSequence lastSequence firstTime lastTime',
      made: ['slot'],
      make: () => ({ slot }),
    },
    {
      to: 'erasure',
      from: 'erasure',
      columns: 'erasure account erasedTime deletedEvents',
      booleans: 'complete verifiedOnly',
    },
    { to: 'erased_stretch', from: 'erased_stretch', columns: 'user erasure after through' },
    { to: 'erased_contact', from: 'erased_contact', columns: 'contact erasure' },
    { to: 'erased_identifier', from: 'erased_identifier', columns: 'hash erasure' },
    {
      to: 'refused_request',
      from: 'refused_request',
      columns: 'token refused operation code field message refusedTime bytes address input sender',
      booleans: 'robot',
    },
    { to: 'refused_count', from: 'refused_count', columns: 'token listed listedBytes evicted erased replayed' },
  ];
};
