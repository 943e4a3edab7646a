/** Reads contacts: their records, claims and links, and their names in reports. */
import type { ContactView, Values } from '../../identity/contact-view.ts';
import { type ContactMerges, noContactMerges } from '../../identity/merged-entries.ts';
import type { Statement } from '../../identity/statements.ts';
import type { PeopleNames } from '../report-feed.ts';
import type { ClaimRow } from '../rules/claims.ts';
import { type Listing, paginateLists } from '../rules/contact-lists.ts';
import {
  type NameOf,
  toClaimDetail,
  toContactDetail,
  toHandle,
  toLinkDetail,
  toMergeDetails,
} from '../rules/contact-presenter.ts';
import type { StatementRow } from '../rules/links.ts';
import type { ClaimDetail, ContactDetail, ContactQuery, LinkDetail, RequestOf } from '../store.ts';
import { listCatalogue, readEntryMerges } from './catalogues.ts';
import { listImportsOf } from './imports.ts';
import { all, call, createQuery, type Operation, together } from './operation.ts';

/** On PostgreSQL, a promise. */
export type Result<Value> = Value | Promise<Value>;

/** The columns of a contact's row that both databases have. */
export interface ContactRow {
  readonly contact: number;
  readonly contactUUID: string;
  readonly contactStatus: string;
  readonly mergedInto: number | null;
  readonly mergedTime: number | null;
  readonly createdTime: number;
  readonly updatedTime: number;
}

/** A contact and the contacts merged into it. */
type Group<Row> = readonly Row[];

/** Reads an account's contacts. */
export interface ContactReader<Row extends ContactRow> {
  readonly readRows: (contacts: readonly number[]) => Result<readonly Row[]>;
  /** Returns each of these contacts, which must not be merged, followed by the contacts merged into it. */
  readonly readGroups: (unmerged: readonly Row[]) => Result<readonly Group<Row>[]>;
  readonly readViews: (groups: readonly Group<Row>[], merges: ContactMerges) => Result<readonly ContactView[]>;
  /** Returns a function that looks up profile and tag names. */
  readonly readNames: () => Result<NameOf>;
  /** Returns, for each group, the last day on which any of its contacts was seen. */
  readonly readLastSeen: (groups: readonly Group<Row>[]) => Result<readonly number[]>;
}

/** Returns the groups of the rows that are not merged, and their views. */
export function* readViews<Row extends ContactRow>(
  reader: ContactReader<Row>,
  rows: readonly Row[],
  merges: ContactMerges,
): Operation<{ readonly groups: readonly Group<Row>[]; readonly views: readonly ContactView[] }> {
  const groups = yield* call(() => reader.readGroups(rows.filter(({ mergedInto }) => mergedInto === null)));
  return { groups, views: yield* call(() => reader.readViews(groups, merges)) };
}

type Listed<Row> = Row & { readonly contactUUID: string; readonly userUUID: string };
type ListedClaim = Listed<ClaimRow & { readonly tokenID: string; readonly linkID: string }>;
/** A link, with all of its user's statements. */
type ListedLink = Listed<StatementRow> & { readonly statements: readonly Statement[] };

export interface ContactDetailReader<Row extends ContactRow> extends ContactReader<Row> {
  /** Returns the contact at the end of the identified contact's merges. Throws a Refusal if there is none. */
  readonly find: (query: ContactQuery) => Result<Row>;
  readonly fieldsOf: (row: Row) => Values['fields'];
  /** Returns a handle's claim. Throws a Refusal if the token has none. */
  readonly findHandle: (token: number, handle: string) => Result<ClaimRow>;
  /** Counts a group's claims and, unless the number is null, returns the first claims after that number, ascending. */
  readonly listClaims: (
    group: Group<Row>,
    beyond: number | null,
  ) => Result<{ readonly count: number; readonly claims: readonly ListedClaim[] }>;
  /** Like `listClaims`, for links after a sequence. */
  readonly listLinks: (
    group: Group<Row>,
    beyond: number | null,
  ) => Result<{ readonly count: number; readonly links: readonly ListedLink[] }>;
}

export function* getContact<Row extends ContactRow>(
  reader: ContactDetailReader<Row>,
  query: ContactQuery,
): Operation<ContactDetail> {
  const { account, token, browser, contactUUID = '', include, beyond } = query;
  if (browser) {
    // Limits a browser token to the values that it sent itself.
    const claim = yield* call(() => reader.findHandle(token, contactUUID));
    return toHandle(claim, yield* call(reader.readNames), yield* readEntryMerges(account));
  }
  const row = yield* call(() => reader.find(query));
  const merges = query.asSent ? noContactMerges : yield* readEntryMerges(account);
  const [read, tags, nameOf] = yield* together(
    readViews(reader, [row], merges),
    listCatalogue({ account, kind: 'tag' }),
    call(reader.readNames),
  );
  const group = read.groups[0] as Group<Row>;

  function* listClaims(after: number | null = 0): Operation<Listing<ClaimDetail>> {
    const { count, claims } = yield* call(() => reader.listClaims(group, after));
    return { count, entries: claims.map((claim) => [claim.claim, toClaimDetail(claim, nameOf, merges)]) };
  }
  function* listLinks(after: number | null = 0): Operation<Listing<LinkDetail>> {
    const { count, links } = yield* call(() => reader.listLinks(group, after));
    return { count, entries: links.map((link) => [link.sequence, toLinkDetail(link, link.statements)]) };
  }
  return {
    ...toContactDetail(row, read.views[0] as ContactView, nameOf, tags),
    ...paginateLists({
      claims: include.includes('claim') ? yield* listClaims(beyond?.claim) : undefined,
      links: include.includes('link') ? yield* listLinks(beyond?.link) : undefined,
      merges: include.includes('merge') && !beyond ? toMergeDetails(group, reader.fieldsOf, merges) : undefined,
    }),
    ...(include.includes('import') &&
      !beyond && {
        imports: yield* listImportsOf(
          account,
          group.map(({ contact }) => contact),
        ),
      }),
  };
}

const selectUsers = createQuery<PeopleNames['users'][number]>(
  ({ among }) => `SELECT "user", "userUUID" FROM "user" WHERE account = $1 AND "user" ${among('$2', 'bigint')}`,
);

/** Reads the names of a report's people. */
export function* namePeople<Row extends ContactRow>(
  reader: ContactReader<Row>,
  { account, users, contacts }: RequestOf<'namePeople'>,
): Operation<PeopleNames> {
  const [named, rows] = yield* together(
    all(selectUsers(account, users)),
    call(() => reader.readRows(contacts)),
  );
  const { groups, views } = yield* readViews(reader, rows, noContactMerges);
  // A contact that was merged after the report counted it has only the values of its own record.
  const merged = rows.filter(({ mergedInto }) => mergedInto !== null).map((row) => [row]);
  const others = yield* call(() => reader.readViews(merged, noContactMerges));
  const people = [...views, ...others];
  return {
    users: named,
    contacts: [...groups, ...merged].map((group, nth) => {
      const { contact, contactUUID } = group[0] as Row;
      return { contact, contactUUID, fields: (people[nth] as ContactView).fields };
    }),
  };
}
