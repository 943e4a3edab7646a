/** The mapping of another database's rows to the rows of each PostgreSQL table except `event`. */
import type pg from 'pg';
import { plainFields } from '../../../identity/contact-view.ts';
import type { DatabaseExport, ExportedRow, ExportedTable, InParts } from '../../database-export.ts';
import { createIdempotencyKeys, type SentByServer, tokenInKey, toUUID } from '../../rules/idempotency-keys.ts';
import { type CopiedValue, copyRows } from './copy-rows.ts';

/** The slot of the copied rollups. */
const slot = 1;

type Make = (row: ExportedRow) => CopiedValue;

/** The mapping of rows of the table `from` to rows of the table `to`, which has the same name if none is given. */
interface CopiedTable {
  readonly from: ExportedTable;
  readonly to?: string;
  /** Names of columns that are copied, separated by spaces; `booleans` are 1 or 0 in `from`. */
  readonly columns?: string;
  readonly booleans?: string;
  /** The other columns. */
  readonly made?: Readonly<Record<string, Make>>;
  readonly only?: (row: ExportedRow) => boolean;
}

const each = (words: string, make: (name: string) => Make) =>
  Object.fromEntries((words.match(/\w+/g) ?? []).map((name) => [name, make(name)]));

/** Copies the rows of a table. */
export const copyTable = async (
  client: pg.Client,
  { from, to = from, columns = '', booleans = '', made = {}, only = () => true }: CopiedTable,
  exported: DatabaseExport,
): Promise<void> => {
  const makes: Readonly<Record<string, Make>> = {
    ...each(columns, (name) => (row) => row[name] as CopiedValue),
    ...each(booleans, (name) => (row) => row[name] === 1),
    ...made,
  };
  const makesInOrder = Object.values(makes);
  async function* toRows() {
    for await (const rows of exported.rows(from)) {
      yield rows.filter(only).map((row) => makesInOrder.map((make) => make(row)));
    }
  }
  await copyRows(client, to, Object.keys(makes), toRows());
};

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
    const fields = plainFields.filter((name) => row[name] !== null);
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
  const isKeptEvents = (row: ExportedRow) => isKept(row) && ofHolder(row) !== undefined;
  const { eventKey, requestKey } = createIdempotencyKeys(exported.position.secret);
  const keyOf = ({ holder, eventUUID }: ExportedRow, server: SentByServer) =>
    toUUID(eventKey(holder as number, eventUUID as string, server));
  const storedValuesOf = await createStoredValues(exported);
  /** Returns a function that returns the account of the row of a table with a number. */
  const accountsBy = async (table: ExportedTable, number: string) => {
    const accounts = new Map<unknown, number>();
    for await (const rows of exported.rows(table)) {
      for (const row of rows) if (row.account !== null) accounts.set(row[number], row.account as number);
    }
    return (row: ExportedRow): number | undefined => accounts.get(row[number]);
  };
  const [ofUser, ofContact, ofToken, ofErasure] = [
    await accountsBy('user', 'user'),
    await accountsBy('contact', 'contact'),
    await accountsBy('token', 'token'),
    await accountsBy('erasure', 'erasure'),
  ];
  /** Undefined for an event of a contact that was erased: a repeat is refused without its key. */
  const ofHolder = ({ holder }: ExportedRow): number | undefined =>
    (holder as number) > 0 ? ofUser({ user: holder as number }) : ofContact({ contact: -(holder as number) });
  const account = (of: (row: ExportedRow) => number | undefined) => ({
    account: (row: ExportedRow) => of(row) as number,
  });
  return [
    {
      from: 'account',
      columns: 'account accountUUID accountName accountOrigin accountTimezone accountCurrency createdTime',
      booleans: 'enrich',
    },
    {
      from: 'account',
      to: 'account_position',
      columns: 'account nextEventID',
      booleans: 'strict browserCatalogue',
    },
    {
      from: 'token',
      columns:
        'token tokenID account kind tokenName hash text createdTime createdBy expiresTime lastUsedTime revokedTime memberID',
      booleans: 'session',
    },
    {
      from: 'member',
      columns:
        'memberID account kind token emailaddress memberName password joinedTime invitation invitationExpiresTime invitedBy createdTime',
    },
    { from: 'known_network', columns: 'memberID network expiresTime' },
    {
      from: 'passkey',
      columns:
        'passkeyID memberID passkeyName origin credentialID publicKey counter transports createdTime lastUsedTime',
    },
    {
      from: 'audit',
      columns: 'audit token action subject time',
      made: { account: ({ account }) => account ?? 0 },
    },
    { from: 'catalogue', columns: 'account kind id name type mergedInto', booleans: 'browser byBrowser' },
    { from: 'report_segment', columns: 'account segmentName filter createdTime updatedTime' },
    { from: 'report_view', columns: 'account viewName page query createdTime updatedTime' },
    {
      from: 'share_link',
      columns: 'shareID account hash shareName page view createdTime createdBy expiresTime lastUsedTime',
    },
    { from: 'user', to: 'user_name', columns: 'userUUID account user' },
    { from: 'user', columns: 'user account userUUID firstDay lastDay createdTime' },
    { from: 'contact', to: 'contact_name', columns: 'contactUUID account contact' },
    {
      from: 'contact',
      to: 'contact_address',
      columns: 'contactEmailaddress account contact contactUUID',
      only: ({ contactEmailaddress }) => contactEmailaddress !== null,
    },
    {
      from: 'contact',
      to: 'contact_external_id',
      columns: 'contactExternalID account contact contactUUID',
      only: ({ contactExternalID }) => Boolean(contactExternalID),
    },
    {
      from: 'contact',
      columns:
        'contact account contactUUID contactExternalID externalIDClaim contactEmailaddress contactStatus mergedInto mergedTime firstDay lastDay createdTime updatedTime',
      booleans: 'verified',
      made: { said: storedValuesOf },
    },
    {
      from: 'contact',
      to: 'merged_contact',
      columns: 'account',
      made: { contact: ({ mergedInto }) => mergedInto as number, other: ({ contact }) => contact as number },
      only: ({ mergedInto }) => mergedInto !== null,
    },
    { from: 'claim', to: 'claim_name', columns: 'account claimID claim contact' },
    {
      from: 'claim',
      columns: 'contact claim claimID account token user said createdTime updatedTime',
      booleans: 'accepted voided',
    },
    {
      from: 'statement',
      columns: 'user sequence contact voided claim token time seenDay',
      booleans: 'verified erased',
      made: account(ofUser),
    },
    { from: 'statement', to: 'statement_place', columns: 'sequence user', made: account(ofUser) },
    {
      from: 'event_repeat',
      columns: 'holder day',
      made: { ...account(ofHolder), key: (event) => keyOf(event, event.server as 0 | 1) },
      only: isKeptEvents,
    },
    {
      from: 'event_repeat_of_either',
      to: 'event_repeat',
      columns: 'holder day',
      made: { ...account(ofHolder), key: (event) => keyOf(event, null) },
      only: isKeptEvents,
    },
    {
      from: 'erased_repeat',
      columns: 'day',
      made: { key: ({ hash }) => (hash as Buffer).toString('hex') },
      only: isKept,
    },
    {
      from: 'request_repeat',
      columns: 'user day contact claim',
      booleans: 'existed',
      made: {
        ...account(ofUser),
        key: ({ requestUUID, token }) =>
          // The request was copied from PostgreSQL before: its requestUUID is already a key.
          token === tokenInKey
            ? (requestUUID as string)
            : requestKey({ requestUUID: requestUUID as string, token: token as number }),
      },
      only: isKept,
    },
    {
      from: 'event_total',
      columns: 'account eventID quarter count firstTime lastTime',
      made: { slot: () => slot },
    },
    {
      from: 'account_day',
      columns: 'account day count bytes firstSequence lastSequence firstTime lastTime',
      made: { slot: () => slot },
    },
    { from: 'erasure', columns: 'erasure account erasedTime deletedEvents', booleans: 'complete verifiedOnly' },
    { from: 'erased_stretch', columns: 'user erasure after through', made: account(ofErasure) },
    { from: 'erased_contact', columns: 'contact erasure', made: account(ofErasure) },
    { from: 'erased_identifier', columns: 'hash erasure', made: account(ofErasure) },
    {
      from: 'refused_request',
      columns: 'token refused operation code field message refusedTime bytes address input sender',
      booleans: 'robot',
      made: account(ofToken),
    },
    { from: 'refused_count', columns: 'token listed listedBytes evicted erased replayed', made: account(ofToken) },
  ];
};
