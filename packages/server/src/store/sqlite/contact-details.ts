/** Reading contacts: as they are, as one browser knows them, and a page of those that are looked for. */
import { type ContactView, viewClaim } from '../../identity/contact-view.ts';
import type { ClaimDetail, ContactDetail, ContactQuery, ContactRecord, ContactSearch, LinkDetail } from '../store.ts';
import { createCatalogueReader } from './catalogues.ts';
import { type ClaimRow, createClaimReader } from './claims.ts';
import type { Connection } from './connection.ts';
import { type ContactRow, createContactFinder } from './contact-finder.ts';
import { createContactViews } from './contact-views.ts';
import { createStatementReader } from './statements.ts';
import type { Steps } from './steps.ts';

const contactsPerStep = 500;

export const createContactReader = (db: Connection) => {
  const contacts = createContactFinder(db);
  const { groupOf, viewOf } = createContactViews(db);
  const claims = createClaimReader(db);
  const statements = createStatementReader(db);
  const catalogues = createCatalogueReader(db);
  const userUUID = db.prepare<[number], string>('SELECT userUUID FROM user WHERE user = ?').pluck();
  const nextContacts = db.prepare<[number, number, number], ContactRow>(
    'SELECT * FROM contact WHERE account = ? AND contact > ? AND mergedInto IS NULL ORDER BY contact LIMIT ?',
  );

  const record = (row: ContactRow, view: ContactView): ContactRecord => ({
    contactUUID: row.contactUUID,
    fields: view.fields,
    contactProfileName: catalogues.name(row.account, 'profile', view.fields.contactProfileID),
    contactStatus: row.contactStatus,
    createdTime: row.createdTime,
    updatedTime: row.updatedTime,
    claimed: view.claimed,
  });

  /** Every listed tag, and those that the contact has beyond the list. */
  const tagsOf = (account: number, view: ContactView): ContactDetail['tags'] => {
    const listed = catalogues.list(account, 'tag');
    const unlisted = [...view.tags].filter((id) => !listed.some((entry) => entry.id === id));
    return [
      ...listed.map(({ id, name }) => ({ tagID: id, tagName: name, opt: view.tags.has(id) })),
      ...unlisted.map((id) => ({ tagID: id, tagName: id, opt: true })),
    ];
  };

  const claimDetail = (claim: ClaimRow): ClaimDetail => {
    const view = viewClaim(claim);
    const made = statements.ofUser(claim.user).find((statement) => statement.claim === claim.claim);
    return {
      claimID: claim.claimID,
      contactUUID: (contacts.get(claim.contact) as ContactRow).contactUUID,
      userUUID: claim.userUUID,
      tokenID: claim.tokenID,
      linkID: made ? String(made.sequence) : '',
      createdTime: claim.createdTime,
      updatedTime: claim.updatedTime,
      state: claim.voided ? 'voided' : claim.accepted ? 'accepted' : 'open',
      fields: view.fields,
      contactProfileName: catalogues.name(claim.account, 'profile', view.fields.contactProfileID),
      tags: [...view.tags],
      attributes: [...view.attributes],
    };
  };

  const linksOf = (row: ContactRow): LinkDetail[] =>
    statements.ofContact(row.contact).map(({ sequence, user, time, verified, voided }) => ({
      linkID: String(sequence),
      userUUID: userUUID.get(user) as string,
      contactUUID: row.contactUUID,
      linkTime: time,
      verified,
      voided,
    }));

  /** What a browser token's handle shows: what this browser itself said. */
  const byHandle = ({ account, token, contactUUID = '' }: ContactQuery): ContactDetail => {
    const claim = claims.find(account, contactUUID);
    if (!claim || claim.token !== token) throw contacts.missingHandle(account, token, contactUUID);
    const view = viewClaim(claim);
    return {
      contactUUID,
      fields: view.fields,
      contactProfileName: catalogues.name(account, 'profile', view.fields.contactProfileID),
      contactStatus: 'active',
      createdTime: claim.createdTime,
      updatedTime: claim.updatedTime,
      claimed: [],
      tags: [...view.tags].map((id) => ({ tagID: id, tagName: catalogues.name(account, 'tag', id), opt: true })),
      attributes: [...view.attributes],
    };
  };

  const wanted = (search: ContactSearch) => {
    const text = search.text?.normalize('NFC').toLowerCase();
    return ({ contactStatus }: ContactRow, { fields, tags }: ContactView): boolean =>
      (search.contactStatus === undefined || contactStatus === search.contactStatus) &&
      (search.contactProfileID === undefined || fields.contactProfileID === search.contactProfileID) &&
      (search.contactTagID === undefined || tags.has(search.contactTagID)) &&
      (text === undefined ||
        [`${fields.contactFirstname} ${fields.contactLastname}`, fields.contactEmailaddress].some((name) =>
          name.normalize('NFC').toLowerCase().includes(text),
        ));
  };

  return {
    getContact(query: ContactQuery): ContactDetail {
      if (query.browser) return byHandle(query);
      const row = contacts.answering(contacts.byName(query));
      const group = groupOf(row);
      const view = viewOf(group);
      return {
        ...record(row, view),
        tags: tagsOf(query.account, view),
        attributes: [...view.attributes],
        ...(query.include.includes('claim') && {
          claims: group.flatMap(({ contact }) => claims.ofContact(contact).map(claimDetail)),
        }),
        ...(query.include.includes('link') && { links: group.flatMap(linksOf) }),
      };
    },

    *searchContact(search: ContactSearch): Steps<{ contacts: ContactRecord[]; next: number | null }> {
      const { account, address, limit } = search;
      const isWanted = wanted(search);
      if (address !== undefined) {
        const found = contacts.byAddress(account, address);
        if (!found) return { contacts: [], next: null };
        const row = contacts.answering(found);
        const view = viewOf(groupOf(row));
        return { contacts: isWanted(row, view) ? [record(row, view)] : [], next: null };
      }
      const found: ContactRecord[] = [];
      for (let beyond = search.beyond; ; ) {
        const rows = nextContacts.all(account, beyond, contactsPerStep);
        for (const row of rows) {
          const view = viewOf(groupOf(row));
          if (!isWanted(row, view)) continue;
          if (found.length === limit) return { contacts: found, next: beyond };
          found.push(record(row, view));
          beyond = row.contact;
        }
        if (rows.length < contactsPerStep) return { contacts: found, next: null };
        beyond = (rows.at(-1) as ContactRow).contact;
        yield;
      }
    },
  };
};
