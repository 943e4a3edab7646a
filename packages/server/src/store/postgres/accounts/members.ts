/** Members: the people who may sign in to the console. */
import {
  checkRoomForMember,
  knownNetworkMilliseconds,
  maxKnownNetworks,
  noInvitation,
  unknownMember,
} from '../../rules/accounts/members.ts';
import type { Invitation, Member, RequestOf, SigningIn, Store } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { notifyAccess } from './access.ts';
import { replacePasskeys } from './passkeys.ts';
import { createAccess, holdMaker, revokeMadeBy } from './tokens.ts';

interface Row {
  readonly memberID: string;
  readonly account: number;
  readonly kind: SigningIn['kind'];
  readonly token: number | null;
  readonly joinedTime: number | null;
  readonly invitedBy: number | null;
}

/** Finds a member and locks the row. */
const find = (db: Transaction, where: string, values: readonly unknown[]): Promise<Row | undefined> =>
  db.get<Row>(
    `SELECT "memberID", account, kind, token, "joinedTime", "invitedBy" FROM member WHERE ${where} FOR UPDATE`,
    [...values],
  );

const findMember = async (db: Transaction, account: number, memberID: string): Promise<Row> => {
  const row = await find(db, 'account = $1 AND "memberID" = $2', [account, memberID]);
  if (!row) throw unknownMember();
  return row;
};

const revoke = async (db: Transaction, token: number, time: number): Promise<void> => {
  await db.run('UPDATE token SET "revokedTime" = $2 WHERE token = $1 AND "revokedTime" IS NULL', [token, time]);
  await notifyAccess(db);
};

export const inviteMember = async (
  db: Transaction,
  { account, memberID, memberName, emailaddress, kind, hash, expiresTime, time, by = null }: RequestOf<'inviteMember'>,
): ReturnType<Store['inviteMember']> => {
  // Invitations of one account wait for each other here, so that each counts the members of those before it.
  await db.all('SELECT 1 FROM account WHERE account = $1 FOR NO KEY UPDATE', [account]);
  if (by !== null) await holdMaker(db, by, time);
  const present = await find(db, 'account = $1 AND emailaddress = $2', [account, emailaddress]);
  if (present) {
    const kept = present.joinedTime === null ? kind : present.kind;
    await db.run(
      `UPDATE member SET kind = $2, "memberName" = coalesce($3, "memberName"), invitation = $4, "invitationExpiresTime" = $5,
         "invitedBy" = $6
       WHERE "memberID" = $1`,
      [present.memberID, kept, memberName, hash, expiresTime, by],
    );
    return { memberID: present.memberID, kind: kept };
  }
  const { count } = await db.one<{ count: number }>('SELECT count(*) AS count FROM member WHERE account = $1', [
    account,
  ]);
  checkRoomForMember(Number(count));
  await db.run(
    `INSERT INTO member ("memberID", account, kind, emailaddress, "memberName", invitation, "invitationExpiresTime", "invitedBy", "createdTime")
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [memberID, account, kind, emailaddress, memberName ?? '', hash, expiresTime, by, time],
  );
  return { memberID, kind };
};

export const joinMember = async (
  db: Transaction,
  { hash, memberName, password, passkey, time, access }: RequestOf<'joinMember'>,
): ReturnType<Store['joinMember']> => {
  const member = await find(db, 'invitation = $1 AND $2 < "invitationExpiresTime"', [hash, time]);
  if (!member) throw noInvitation();
  const { memberID, account, kind, token: before, invitedBy: createdBy } = member;
  const token = await createAccess(db, { ...access, account, kind, time, createdBy, memberID });
  await db.run(
    `UPDATE member SET token = $2, "memberName" = $3, password = $4, "joinedTime" = $5, invitation = NULL, "invitationExpiresTime" = NULL
     WHERE "memberID" = $1`,
    [memberID, token, memberName, password, time],
  );
  await replacePasskeys(db, memberID, passkey, time);
  await db.run('DELETE FROM known_network WHERE "memberID" = $1', [memberID]);
  // The sessions that it made end with it, those too that are being made.
  if (before !== null) await revoke(db, before, time);
  return { account, memberID, access: { token, tokenID: access.tokenID, kind } };
};

/** Locks the members first, in one order: so servers that note networks of the same member wait for each other. */
export const noteKnownNetwork = async (
  db: Transaction,
  { memberIDs, network, time }: RequestOf<'noteKnownNetwork'>,
): Promise<void> => {
  await db.all('SELECT 1 FROM member WHERE "memberID" = ANY ($1::text[]) ORDER BY "memberID" FOR NO KEY UPDATE', [
    memberIDs,
  ]);
  await db.run(
    `INSERT INTO known_network ("memberID", network, "expiresTime")
     SELECT "memberID", $2, $3::bigint FROM member WHERE "memberID" = ANY ($1::text[])
     ON CONFLICT ("memberID", network) DO UPDATE SET "expiresTime" = excluded."expiresTime"`,
    [memberIDs, network, time + knownNetworkMilliseconds],
  );
  await db.run(
    `DELETE FROM known_network WHERE ("memberID", network) IN (
       SELECT "memberID", network FROM (
         SELECT "memberID", network, row_number() OVER (PARTITION BY "memberID" ORDER BY "expiresTime" DESC) AS nth
         FROM known_network WHERE "memberID" = ANY ($1::text[])) n
       WHERE nth > $2)`,
    [memberIDs, maxKnownNetworks],
  );
};

export const updateMember = async (
  db: Transaction,
  { account, memberID, kind }: RequestOf<'updateMember'>,
): Promise<void> => {
  const { token } = await findMember(db, account, memberID);
  await db.run('UPDATE member SET kind = $2 WHERE "memberID" = $1', [memberID, kind]);
  if (token === null) return;
  await db.run('UPDATE token SET kind = $2 WHERE token = $1 AND kind <> $2', [token, kind]);
  await notifyAccess(db);
};

export const removeMember = async (
  db: Transaction,
  { account, memberID, descendants = false, time }: RequestOf<'removeMember'>,
): ReturnType<Store['removeMember']> => {
  const { token } = await findMember(db, account, memberID);
  await db.run('DELETE FROM member WHERE "memberID" = $1', [memberID]);
  if (token !== null) await revoke(db, token, time);
  return descendants ? revokeMadeBy(db, { account, memberID, time }) : { tokens: [], shareLinks: [] };
};

const signedInTime = '(SELECT max(s."createdTime") FROM token s WHERE s."createdBy" = m.token AND s.session)';

export const listMembers = (db: Connection, { account }: RequestOf<'listMembers'>): Promise<Member[]> =>
  db.all<Member>(
    `SELECT "memberID", emailaddress, "memberName", kind, "createdTime", "joinedTime", ${signedInTime} AS "signedInTime",
       "invitationExpiresTime", (SELECT count(*)::integer FROM passkey p WHERE p."memberID" = m."memberID") AS passkeys
     FROM member m WHERE account = $1 ORDER BY emailaddress`,
    [account],
  );

export const findMembers = (
  db: Connection,
  { emailaddress, accountUUID = '', network, time }: RequestOf<'findMembers'>,
): Promise<SigningIn[]> =>
  db.all<SigningIn>(
    `SELECT m.account, m."memberID", m.token, t."tokenID", t.kind, m.password, EXISTS (
       SELECT 1 FROM known_network n WHERE n."memberID" = m."memberID" AND n.network = $3 AND $4 < n."expiresTime") AS "isKnown"
     FROM member m JOIN token t USING (token) JOIN account a ON a.account = m.account
     WHERE m.emailaddress = $1 AND m.password IS NOT NULL AND t."revokedTime" IS NULL
     ORDER BY a."accountUUID" = $2 DESC, ${signedInTime} DESC NULLS LAST, m.token`,
    [emailaddress, accountUUID, network, time],
  );

export const findInvitation = (
  db: Connection,
  { hash, time }: RequestOf<'findInvitation'>,
): Promise<Invitation | undefined> =>
  db.get<Invitation>(
    `SELECT m."memberID", m.emailaddress, m."memberName", m.kind, m.account, a."accountUUID", a."accountName"
     FROM member m JOIN account a ON a.account = m.account
     WHERE m.invitation = $1 AND $2 < m."invitationExpiresTime"`,
    [hash, time],
  );
