/** Reading contacts: as they are, as one browser knows them, and a page of those that are looked for. */
import { createContactMatcher, tellClaim, tellHandle, tellRecord, tellTags } from '../contact-telling.ts';
import type { ClaimDetail, ContactDetail, ContactQuery, ContactRecord, ContactSearch, LinkDetail } from '../store.ts';
import { listCatalogue, readNames } from './catalogues.ts';
import { claimsOf, findClaim } from './claims.ts';
import type { Connection } from './connection.ts';
import type { ContactFinder } from './contact-finder.ts';
import type { ContactRow } from './contact-rows.ts';
import { rowsOf, viewsOf } from './contact-views.ts';
import { statementsOf, usersOf } from './statements.ts';
import type { Snapshot } from './transaction.ts';
import { userUUIDsOf } from './users.ts';

const contactsPerStep = 500;

type ContactPage = { contacts: ContactRecord[]; next: number | null };

const claimDetails = async (db: Connection, account: number, group: readonly ContactRow[]): Promise<ClaimDetail[]> => {
  const claims = await claimsOf(
    db,
    group.map(({ contact }) => contact),
  );
  const users = claims.map(({ user }) => user);
  const [statements, userUUIDs, tokens, nameOf] = await Promise.all([
    statementsOf(db, users),
    userUUIDsOf(db, users),
    db.all<{ token: number; tokenID: string }>('SELECT token, "tokenID" FROM token WHERE token = ANY ($1::integer[])', [
      claims.map(({ token }) => token),
    ]),
    readNames(db, account),
  ]);
  const tokenIDs = new Map(tokens.map(({ token, tokenID }) => [token, tokenID]));
  return group.flatMap(({ contact, contactUUID }) =>
    claims
      .filter((claim) => claim.contact === contact)
      .map((claim) => {
        const made = statements.get(claim.user)?.find((statement) => statement.claim === claim.claim);
        const said = {
          ...claim,
          userUUID: userUUIDs.get(claim.user) as string,
          tokenID: tokenIDs.get(claim.token) as string,
        };
        return tellClaim(said, { contactUUID, linkID: made ? String(made.sequence) : '' }, nameOf);
      }),
  );
};

const linkDetails = async (db: Connection, group: readonly ContactRow[]): Promise<LinkDetail[]> => {
  const users = await usersOf(
    db,
    group.map(({ contact }) => contact),
  );
  const [lists, userUUIDs] = await Promise.all([statementsOf(db, users), userUUIDsOf(db, users)]);
  const statements = [...lists.values()].flat().sort((a, b) => a.sequence - b.sequence);
  return group.flatMap(({ contact, contactUUID }) =>
    statements
      .filter((statement) => statement.contact === contact)
      .map(({ sequence, user, time, verified, voided }) => ({
        linkID: String(sequence),
        userUUID: userUUIDs.get(user) as string,
        contactUUID,
        linkTime: time,
        verified,
        voided,
      })),
  );
};

export const createContactReader = (contacts: ContactFinder) => {
  /** What a browser token's handle shows: what this browser itself said. */
  const byHandle = async (
    db: Connection,
    { account, token, contactUUID = '' }: ContactQuery,
  ): Promise<ContactDetail> => {
    const claim = await findClaim(db, account, contactUUID);
    if (!claim || claim.token !== token) throw await contacts.missingHandle(db, account, token, contactUUID);
    return tellHandle(claim, await readNames(db, account));
  };

  const byAddress = async (db: Connection, { account, address = '' }: ContactSearch): Promise<ContactRow[]> => {
    const found = await contacts.byAddress(db, account, address);
    return found ? [await contacts.answering(db, found)] : [];
  };

  return {
    async getContact(db: Connection, query: ContactQuery): Promise<ContactDetail> {
      const { account, include } = query;
      if (query.browser) return byHandle(db, query);
      const row = await contacts.answering(db, await contacts.byName(db, query));
      const groups = await rowsOf(db, [row]);
      const [group = []] = groups;
      const [views, tags, nameOf] = await Promise.all([
        viewsOf(db, groups),
        listCatalogue(db, account, 'tag'),
        readNames(db, account),
      ]);
      const [view] = views as [(typeof views)[number]];
      return {
        ...tellRecord(row, view, nameOf),
        tags: tellTags(view, tags),
        attributes: [...view.attributes],
        ...(include.includes('claim') && { claims: await claimDetails(db, account, group) }),
        ...(include.includes('link') && { links: await linkDetails(db, group) }),
      };
    },

    /** Unless it goes by address, `db` is to have all contacts settled: whoever goes on from here misses none. */
    async searchContact(db: Snapshot, search: ContactSearch): Promise<ContactPage> {
      const { account, limit } = search;
      const isWanted = createContactMatcher(search);
      const nameOf = await readNames(db, account);
      const found: ContactRecord[] = [];
      for (let beyond = search.beyond; ; ) {
        const rows =
          search.address === undefined
            ? await db.all<ContactRow>(
                `SELECT * FROM contact WHERE account = $1 AND contact > $2 AND contact <= $3 AND "mergedInto" IS NULL
                 ORDER BY contact LIMIT ${contactsPerStep}`,
                [account, beyond, await db.settled],
              )
            : await byAddress(db, search);
        const views = await viewsOf(db, await rowsOf(db, rows));
        for (const [nth, view] of views.entries()) {
          const row = rows[nth] as ContactRow;
          if (!isWanted(row, view)) continue;
          if (found.length === limit) return { contacts: found, next: beyond };
          found.push(tellRecord(row, view, nameOf));
          beyond = row.contact;
        }
        if (rows.length < contactsPerStep) return { contacts: found, next: null };
        beyond = (rows.at(-1) as ContactRow).contact;
      }
    },
  };
};
