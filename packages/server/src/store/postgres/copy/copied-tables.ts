/** Maps another database's rows to the rows of each PostgreSQL table, except `event`. */
import type pg from 'pg';
import { plainFields } from '../../../identity/contact-view.ts';
import type { Chunks, DatabaseExport, ExportedRow, ExportedTable } from '../../database-export.ts';
import { createIdempotencyKeys, type SentByServer, tokenInKey, toUUID } from '../../rules/idempotency-keys.ts';
import { type CopiedValue, copyRows } from './copy-rows.ts';

/** The slot of the copied rollups. */
const slot = 1;

type Convert = (row: ExportedRow) => CopiedValue;

/** Maps rows of the table `from` to rows of the table `to`, by default the table with the same name. */
interface CopiedTable {
  readonly from: ExportedTable;
  readonly to?: string;
  /** Names of copied columns, separated by spaces; `booleans` are 1 or 0 in `from`. */
  readonly columns?: string;
  readonly booleans?: string;
  /** Computed columns. */
  readonly computed?: Readonly<Record<string, Convert>>;
  readonly only?: (row: ExportedRow) => boolean;
}

const each = (words: string, create: (name: string) => Convert) =>
  Object.fromEntries((words.match(/\w+/g) ?? []).map((name) => [name, create(name)]));

/** Copies a table's rows. */
export const copyTable = async (
  client: pg.Client,
  { from, to = from, columns = '', booleans = '', computed = {}, only = () => true }: CopiedTable,
  exported: DatabaseExport,
): Promise<void> => {
  const converters: Readonly<Record<string, Convert>> = {
    ...each(columns, (name) => (row) => row[name] as CopiedValue),
    ...each(booleans, (name) => (row) => row[name] === 1),
    ...computed,
  };
  const inOrder = Object.values(converters);
  async function* toRows() {
    for await (const rows of exported.rows(from)) {
      yield rows.filter(only).map((row) => inOrder.map((convert) => convert(row)));
    }
  }
  await copyRows(client, to, Object.keys(converters), toRows());
};

/** Groups rows by contact. */
const byContact = async (rows: Chunks<ExportedRow>): Promise<Map<number, ExportedRow[]>> => {
  const groups = new Map<number, ExportedRow[]>();
  for await (const chunk of rows) {
    for (const row of chunk) {
      const group = groups.get(row.contact as number);
      if (group) group.push(row);
      else groups.set(row.contact as number, [row]);
    }
  }
  return groups;
};

/** Returns a function that converts a contact's own values to JSON (`OwnValues`). */
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

/** The tables whose rows are copied with few changes. */
const simpleTables: readonly CopiedTable[] = [
  {
    from: 'account',
    columns:
      'account accountUUID accountName accountOrigin accountTimezone accountCurrency defaultProfileID createdTime',
    booleans: 'enrich userIDIsEmailaddress',
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
      'memberID account kind token emailaddress memberName password joinedTime invitation invitationExpiresTime invitedBy createdTime confirmedTime confirmationSentTime',
  },
  { from: 'known_network', columns: 'memberID network expiresTime' },
  {
    from: 'passkey',
    columns: 'passkeyID memberID passkeyName origin credentialID publicKey counter transports createdTime lastUsedTime',
  },
  {
    from: 'audit',
    columns: 'audit token action subject time',
    computed: { account: ({ account }) => account ?? 0 },
  },
  { from: 'catalogue', columns: 'account kind id name type mergedInto', booleans: 'browser byBrowser' },
  { from: 'report_segment', columns: 'account segmentName filter createdTime updatedTime' },
  { from: 'report_view', columns: 'account viewName page query createdTime updatedTime' },
  { from: 'goal', columns: 'account goalID goalName eventID eventName path attrID createdTime updatedTime' },
  { from: 'note', columns: 'account noteID noteText noteTime createdTime' },
  {
    from: 'share_link',
    columns: 'shareID account hash shareName page view createdTime createdBy expiresTime lastUsedTime',
  },
  {
    from: 'webhook',
    columns:
      'webhookID account url description types filter payload state disabledReason secretTime previousSecretTime sentThrough failures waitUntil lastSuccessTime lastFailureTime lastFailure leasedBy leasedUntil createdTime createdBy updatedTime skippedEvents skippedFrom skippedThrough',
  },
  {
    from: 'webhook_delivery',
    columns: 'account webhookID sequence attempts firstTime lastTime nextTime httpStatus error response',
  },
  { from: 'webhook_fact', columns: 'account sequence type contact other user detail time webhookID' },
  {
    from: 'webhook_audience',
    columns: 'account audience webhookID segmentName nextTime comparedTime contacts problem',
  },
  { from: 'webhook_member', columns: 'account audience contact' },
  {
    from: 'notification',
    columns:
      'notificationID account notificationName kind settings page query reports recipients state dueTime activeSince lastSentTime lastFailureTime lastFailure createdTime updatedTime',
  },
  { from: 'notification_mail', columns: 'mailID account notificationID memberID occasion attempts nextTime' },
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
    to: 'merged_contact',
    columns: 'account',
    computed: { contact: ({ mergedInto }) => mergedInto as number, other: ({ contact }) => contact as number },
    only: ({ mergedInto }) => mergedInto !== null,
  },
  { from: 'claim', to: 'claim_name', columns: 'account claimID claim contact' },
  {
    from: 'claim',
    columns: 'contact claim claimID account token user said createdTime updatedTime',
    booleans: 'accepted voided',
  },
  {
    from: 'event_total',
    columns: 'account eventID quarter count firstTime lastTime',
    computed: { slot: () => slot },
  },
  {
    from: 'account_day',
    columns: 'account day count bytes firstSequence lastSequence firstTime lastTime',
    computed: { slot: () => slot },
  },
  { from: 'erasure', columns: 'erasure account erasedTime deletedEvents', booleans: 'complete verifiedOnly' },
  {
    from: 'import',
    columns:
      'account importID kind importName fingerprint position imported repeated refused kept createdTime undoneTime erasure',
    booleans: 'isComplete isUndoing',
  },
  { from: 'import_stretch', columns: 'account importID after through' },
  {
    from: 'import_contact',
    columns: 'account importID contact updatedTime changes',
    booleans: 'isCreated',
  },
];

/**
 * Returns the mappings of all tables except `event`, `contact_user` and `user_contact`. Copies only repeats of
 * `keptDays`.
 */
export const tablesOf = async (exported: DatabaseExport, keptDays: ReadonlySet<number>): Promise<CopiedTable[]> => {
  // Older repeats are due for deletion, and a newer repeat might have the same key, which request_repeat allows only
  // once.
  const isKept = ({ day }: ExportedRow) => keptDays.has(day as number);
  const isKeptEvents = (row: ExportedRow) => isKept(row) && ofHolder(row) !== undefined;
  const { eventKey, requestKey } = createIdempotencyKeys(exported.position.secret);
  const keyOf = ({ holder, eventUUID }: ExportedRow, server: SentByServer) =>
    toUUID(eventKey(holder as number, eventUUID as string, server));
  const storedValuesOf = await createStoredValues(exported);
  /** Returns a function that looks up a row's account by row number. */
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
  /** Undefined for an erased contact's event, which needs no key: repeats of it are refused anyway. */
  const ofHolder = ({ holder }: ExportedRow): number | undefined =>
    (holder as number) > 0 ? ofUser({ user: holder as number }) : ofContact({ contact: -(holder as number) });
  const account = (accountOf: (row: ExportedRow) => number | undefined) => ({
    account: (row: ExportedRow) => accountOf(row) as number,
  });
  return [
    ...simpleTables,
    {
      from: 'contact',
      columns:
        'contact account contactUUID contactExternalID externalIDClaim contactEmailaddress contactStatus mergedInto mergedTime firstDay lastDay createdTime updatedTime',
      booleans: 'verified',
      computed: { said: storedValuesOf },
    },
    {
      from: 'statement',
      columns: 'user sequence contact voided claim token time seenDay',
      booleans: 'verified erased',
      computed: account(ofUser),
    },
    { from: 'statement', to: 'statement_place', columns: 'sequence user', computed: account(ofUser) },
    {
      from: 'event_repeat',
      columns: 'holder day',
      computed: { ...account(ofHolder), key: (event) => keyOf(event, event.server as 0 | 1) },
      only: isKeptEvents,
    },
    {
      from: 'event_repeat_of_either',
      to: 'event_repeat',
      columns: 'holder day',
      computed: { ...account(ofHolder), key: (event) => keyOf(event, null) },
      only: isKeptEvents,
    },
    {
      from: 'erased_repeat',
      columns: 'day',
      computed: { key: ({ hash }) => (hash as Buffer).toString('hex') },
      only: isKept,
    },
    {
      from: 'request_repeat',
      columns: 'user day contact claim',
      booleans: 'existed',
      computed: {
        // Uses the contact's account for a request without a user.
        ...account((row) => ofUser(row) ?? ofContact(row)),
        key: ({ requestUUID, token }) =>
          // The request was copied from PostgreSQL earlier, so its requestUUID is already a key.
          token === tokenInKey
            ? (requestUUID as string)
            : requestKey({ requestUUID: requestUUID as string, token: token as number }),
      },
      only: isKept,
    },
    { from: 'erased_stretch', columns: 'user erasure after through', computed: account(ofErasure) },
    { from: 'erased_contact', columns: 'contact erasure', computed: account(ofErasure) },
    { from: 'erased_identifier', columns: 'hash erasure', computed: account(ofErasure) },
    {
      from: 'refused_request',
      columns: 'token refused operation code field message refusedTime bytes address input sender',
      booleans: 'robot',
      computed: account(ofToken),
    },
    { from: 'refused_count', columns: 'token listed listedBytes evicted erased replayed', computed: account(ofToken) },
  ];
};
