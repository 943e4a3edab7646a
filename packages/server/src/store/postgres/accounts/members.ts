/** Members: the people who may sign in to the console. */
import { accessName, checkRoomForMember, noInvitation, unknownMember } from '../../rules/members.ts';
import type { Invitation, Member, RequestOf, SigningIn, Store } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import type { Transaction } from '../transactions/transaction.ts';
import { notifyAccess } from './access.ts';
import { createToken } from './tokens.ts';

/** Changes what a member may do, and with it the member's sessions. */
const setKind = async (db: Transaction, token: number, kind: SigningIn['kind']): Promise<void> => {
  const changed = await db.run(
    `UPDATE token SET kind = $2 WHERE (token = $1 OR ("createdBy" = $1 AND session)) AND kind <> $2`,
    [token, kind],
  );
  if (changed > 0) await notifyAccess(db);
};

/** Finds a member and locks the row. */
const findMember = async (db: Transaction, account: number, memberID: string): Promise<number> => {
  const row = await db.get<{ token: number }>(
    'SELECT token FROM member WHERE account = $1 AND "memberID" = $2 FOR UPDATE',
    [account, memberID],
  );
  if (!row) throw unknownMember();
  return row.token;
};

export const inviteMember = async (
  db: Transaction,
  { account, access, memberName, emailaddress, kind, hash, expiresTime, time, ...made }: RequestOf<'inviteMember'>,
): ReturnType<Store['inviteMember']> => {
  // Invitations of one account wait for each other here, so that each counts the members of those before it.
  await db.all('SELECT 1 FROM account WHERE account = $1 FOR NO KEY UPDATE', [account]);
  const present = await db.get<{ memberID: string; token: number }>(
    'SELECT "memberID", token FROM member WHERE account = $1 AND emailaddress = $2 FOR UPDATE',
    [account, emailaddress],
  );
  if (present) {
    const { memberID, token } = present;
    await setKind(db, token, kind);
    await db.run(
      `UPDATE member SET invitation = $2, "invitationExpiresTime" = $3, "memberName" = coalesce($4, "memberName")
       WHERE "memberID" = $1`,
      [memberID, hash, expiresTime, memberName],
    );
    return { memberID };
  }
  const { count } = await db.one<{ count: number }>('SELECT count(*) AS count FROM member WHERE account = $1', [
    account,
  ]);
  checkRoomForMember(Number(count));
  await createToken(db, { ...access, account, kind, tokenName: accessName, text: null, time, session: true });
  await db.run(
    `INSERT INTO member ("memberID", account, token, emailaddress, "memberName", invitation, "invitationExpiresTime", "createdTime")
     SELECT $1, $2, token, $4, $5, $6, $7, $8 FROM token WHERE "tokenID" = $3`,
    [made.memberID, account, access.tokenID, emailaddress, memberName ?? '', hash, expiresTime, time],
  );
  return { memberID: made.memberID };
};

export const joinMember = async (
  db: Transaction,
  { hash, memberName, password, time }: RequestOf<'joinMember'>,
): ReturnType<Store['joinMember']> => {
  const member = await db.get<{ memberID: string; account: number; token: number }>(
    `UPDATE member SET "memberName" = $2, password = $3, "joinedTime" = $4, invitation = NULL, "invitationExpiresTime" = NULL
     WHERE invitation = $1 AND $4 < "invitationExpiresTime" RETURNING "memberID", account, token`,
    [hash, memberName, password, time],
  );
  if (!member) throw noInvitation();
  const { account, memberID, token } = member;
  const ended = await db.run(
    'UPDATE token SET "revokedTime" = $2 WHERE "createdBy" = $1 AND session AND "revokedTime" IS NULL',
    [token, time],
  );
  if (ended > 0) await notifyAccess(db);
  const { tokenID, kind } = await db.one<Pick<SigningIn, 'tokenID' | 'kind'>>(
    'SELECT "tokenID", kind FROM token WHERE token = $1',
    [token],
  );
  return { account, memberID, access: { token, tokenID, kind } };
};

export const updateMember = async (
  db: Transaction,
  { account, memberID, kind }: RequestOf<'updateMember'>,
): Promise<void> => setKind(db, await findMember(db, account, memberID), kind);

export const removeMember = async (
  db: Transaction,
  { account, memberID, time }: RequestOf<'removeMember'>,
): Promise<void> => {
  const token = await findMember(db, account, memberID);
  await db.run('DELETE FROM member WHERE "memberID" = $1', [memberID]);
  await db.run('UPDATE token SET "revokedTime" = $2 WHERE token = $1 AND "revokedTime" IS NULL', [token, time]);
  await notifyAccess(db);
};

const signedInTime = '(SELECT max(s."createdTime") FROM token s WHERE s."createdBy" = m.token AND s.session)';

export const listMembers = (db: Connection, { account }: RequestOf<'listMembers'>): Promise<Member[]> =>
  db.all<Member>(
    `SELECT m."memberID", m.emailaddress, m."memberName", t.kind, m."createdTime", m."joinedTime",
       ${signedInTime} AS "signedInTime", m."invitationExpiresTime"
     FROM member m JOIN token t USING (token) WHERE m.account = $1 ORDER BY m.emailaddress`,
    [account],
  );

export const findMembers = (db: Connection, { emailaddress, most }: RequestOf<'findMembers'>): Promise<SigningIn[]> =>
  db.all<SigningIn>(
    `SELECT m.account, m.token, t."tokenID", t.kind, m.password
     FROM member m JOIN token t USING (token)
     WHERE m.emailaddress = $1 AND m.password IS NOT NULL AND t."revokedTime" IS NULL
     ORDER BY ${signedInTime} DESC NULLS LAST, m.token LIMIT $2`,
    [emailaddress, most],
  );

export const findInvitation = (
  db: Connection,
  { hash, time }: RequestOf<'findInvitation'>,
): Promise<Invitation | undefined> =>
  db.get<Invitation>(
    `SELECT m."memberID", m.emailaddress, m."memberName", t.kind, a."accountUUID", a."accountName"
     FROM member m JOIN token t USING (token) JOIN account a ON a.account = m.account
     WHERE m.invitation = $1 AND $2 < m."invitationExpiresTime"`,
    [hash, time],
  );
