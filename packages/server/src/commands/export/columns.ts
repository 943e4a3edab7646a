/** The tables in an export: their columns, and how a row from the store becomes a row in a Parquet file. */
import { BIGINT, BOOLEAN, type DuckDBType, INTEGER, LIST, listValue, VARCHAR } from '@duckdb/node-api';
import { contactFields } from '../../identity/contact-view.ts';
import { clause, name as identifier, list, type SQL } from '../../reports/engine/sql.ts';
import type {
  Attributes,
  FoundContact,
  ListedEntry,
  MergedContact,
  StoredEvent,
  UserLinks,
} from '../../store/store.ts';

export interface Column<Row> {
  readonly name: string;
  readonly type: DuckDBType;
  /** The type in the DuckDB table to which rows are appended. */
  readonly sqlType: SQL;
  /** The expression for the column in the file; null if the file has no such column. */
  readonly sql: SQL | null;
  of(row: Row): unknown;
}

const column = <Row>(name: string, type: DuckDBType, sqlType: SQL, of: (row: Row) => unknown): Column<Row> => ({
  name,
  type,
  sqlType,
  sql: identifier(name),
  of,
});
/** Empty text becomes NULL. */
const text = <Row>(name: string, of: (row: Row) => string): Column<Row> =>
  column(name, VARCHAR, clause`VARCHAR`, (row) => of(row) || null);
const texts = <Row>(name: string, of: (row: Row) => readonly string[]): Column<Row> =>
  column(name, LIST(VARCHAR), clause`VARCHAR[]`, (row) => listValue([...of(row)]));
const flag = <Row>(name: string, of: (row: Row) => boolean): Column<Row> => column(name, BOOLEAN, clause`BOOLEAN`, of);
const integer = <Row>(name: string, of: (row: Row) => number): Column<Row> =>
  column(name, INTEGER, clause`INTEGER`, of);
/** Infinity and null become NULL. */
const bigint = <Row>(name: string, of: (row: Row) => number | null): Column<Row> =>
  column(name, BIGINT, clause`BIGINT`, (row) => {
    const value = of(row);
    return value === null || value === Infinity ? null : BigInt(value);
  });
const time = <Row>(name: string, of: (row: Row) => number | null): Column<Row> => ({
  ...bigint(name, of),
  sql: clause`epoch_ms(${identifier(name)})::TIMESTAMPTZ AS ${identifier(name)}`,
});
const attributes = <Row>(of: (row: Row) => Attributes): readonly Column<Row>[] => [
  {
    ...texts('keys', (row: Row) => of(row).map(([attrID]) => attrID)),
    sql: clause`map("keys", "values") AS attributes`,
  },
  { ...texts('values', (row: Row) => of(row).map(([, attrValue]) => attrValue)), sql: null },
];

/** The SELECT list of a file's columns. */
export const selectListOf = (columns: readonly Column<never>[]): SQL => list(columns.flatMap(({ sql }) => sql ?? []));

const eventColumns = {
  sequence: bigint<StoredEvent>('sequence', ({ sequence }) => sequence),
  eventUUID: text<StoredEvent>('eventUUID', ({ eventUUID }) => eventUUID),
  eventID: integer<StoredEvent>('eventID', ({ eventID }) => eventID),
  eventName: text<StoredEvent>('eventName', ({ eventName }) => eventName),
  eventTime: time<StoredEvent>('eventTime', ({ eventTime }) => eventTime),
  receivedTime: time<StoredEvent>('receivedTime', ({ receivedTime }) => receivedTime),
  userUUID: text<StoredEvent>('userUUID', ({ userUUID }) => userUUID),
  contactUUID: text<StoredEvent>('contactUUID', ({ contactUUID }) => contactUUID),
  /** The contact that the event was logged with, before merges. */
  loggedContactUUID: text<StoredEvent>('loggedContactUUID', ({ contactUUID, why }) =>
    why.rule === 'logged with the contact' ? (why.mergedFrom ?? contactUUID) : '',
  ),
};
const eventAttributes = attributes<StoredEvent>((event) => event.attributes);

/** Events with their current owner and name. */
export const ownedEvents: readonly Column<StoredEvent>[] = [
  ...[eventColumns.sequence, eventColumns.eventUUID, eventColumns.eventID, eventColumns.eventName],
  ...[eventColumns.eventTime, eventColumns.receivedTime, eventColumns.userUUID, eventColumns.contactUUID],
  ...eventAttributes,
];

/** Only the event fields that never change. */
export const rawEvents: readonly Column<StoredEvent>[] = [
  ...[eventColumns.sequence, eventColumns.eventUUID, eventColumns.eventID, eventColumns.eventTime],
  ...[eventColumns.receivedTime, eventColumns.userUUID, eventColumns.loggedContactUUID],
  ...eventAttributes,
];

export const contacts: readonly Column<FoundContact>[] = [
  text('contactUUID', ({ contactUUID }) => contactUUID),
  ...contactFields.map((name) => text<FoundContact>(name, ({ fields }) => fields[name])),
  text('contactProfileName', ({ contactProfileName }) => contactProfileName),
  texts('tags', ({ tags }) => tags.flatMap(({ tagID, opt }) => (opt ? tagID : []))),
  ...attributes<FoundContact>((contact) => contact.attributes),
  text('contactStatus', ({ contactStatus }) => contactStatus),
  time('createdTime', ({ createdTime }) => createdTime),
  time('updatedTime', ({ updatedTime }) => updatedTime),
  texts('claimed', ({ claimed }) => claimed),
  time('lastSeenTime', ({ lastSeenTime }) => lastSeenTime),
];

/** A row that belongs to a user, with the feed page on which the user appeared. */
type UserRow<Value> = Value & Pick<UserLinks, 'userUUID'> & { readonly page: number };
const page = integer<{ readonly page: number }>('page', (row) => row.page);

export const links: readonly Column<UserRow<UserLinks['links'][number]>>[] = [
  text('linkID', ({ linkID }) => linkID),
  text('userUUID', ({ userUUID }) => userUUID),
  text('contactUUID', ({ contactUUID }) => contactUUID),
  time('linkTime', ({ linkTime }) => linkTime),
  flag('verified', ({ verified }) => verified),
  flag('voided', ({ voided }) => voided),
];

export const owners: readonly Column<UserRow<UserLinks['stretches'][number]>>[] = [
  text('userUUID', ({ userUUID }) => userUUID),
  bigint('afterSequence', ({ after }) => after),
  bigint('throughSequence', ({ through }) => through),
  text('contactUUID', ({ contactUUID }) => contactUUID),
];

export const users: readonly Column<UserRow<object>>[] = [text('userUUID', ({ userUUID }) => userUUID)];

/** Adds the page to the columns of rows that belong to users. */
export const withPage = <Value>(columns: readonly Column<UserRow<Value>>[]): readonly Column<UserRow<Value>>[] => [
  ...columns,
  page,
];

export const mergedContacts: readonly Column<MergedContact>[] = [
  text('contactUUID', ({ contactUUID }) => contactUUID),
  text('ownerUUID', ({ ownerUUID }) => ownerUUID),
];

/** Only entries with a name: any other event's number is also its name (unlisted-names.ts). */
export const eventNames: readonly Column<ListedEntry>[] = [
  integer('eventID', ({ id }) => Number(id)),
  text('eventName', ({ name }) => name),
];
