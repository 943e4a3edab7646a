/** Passkeys: the public keys with which members sign in. */
import { unknownMember } from '../../rules/accounts/members.ts';
import {
  checkRoomForPasskey,
  knownCredential,
  lastWay,
  mayFollow,
  noChallenge,
  notSignedIn,
  toChallengeKey,
  unknownPasskey,
} from '../../rules/accounts/passkeys.ts';
import type { Challenge, NewPasskey, Passkey, RequestOf, SigningInByPasskey } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import type { Transaction } from '../transactions/transaction.ts';

/** Remembers a challenge as answered. Skips expired rows that another transaction deletes. */
const answer = async (db: Transaction, { challenge, expiresTime }: Challenge, time: number): Promise<void> => {
  await db.run(
    `DELETE FROM answered_challenge WHERE challenge IN (
       SELECT challenge FROM answered_challenge WHERE "expiresTime" <= $1 FOR UPDATE SKIP LOCKED)`,
    [time],
  );
  const remember = 'INSERT INTO answered_challenge VALUES ($1, $2) ON CONFLICT DO NOTHING';
  if ((await db.run(remember, [challenge, expiresTime])) === 0) throw noChallenge();
};

/**
 * Finds a member who may sign in, and locks the row: changes of one member's passkeys wait for each other. A session `by` must be one of
 * the member's present access.
 */
const findMember = async (
  db: Transaction,
  { account, memberID, by }: Pick<RequestOf<'addPasskey'>, 'account' | 'memberID' | 'by'>,
): Promise<{ password: string | null }> => {
  const row = await db.get<{ password: string | null }>(
    `SELECT m.password FROM member m JOIN token t USING (token)
     WHERE m.account = $1 AND m."memberID" = $2 AND t."revokedTime" IS NULL
       AND ($3::bigint IS NULL OR m.token = (SELECT "createdBy" FROM token WHERE token = $3 AND "revokedTime" IS NULL))
     FOR UPDATE OF m`,
    [account, memberID, by],
  );
  if (!row) throw unknownMember();
  return row;
};

const count = async (db: Transaction, memberID: string): Promise<number> => {
  const row = await db.one<{ count: number }>('SELECT count(*) AS count FROM passkey WHERE "memberID" = $1', [
    memberID,
  ]);
  return Number(row.count);
};

const add = async (db: Transaction, memberID: string, passkey: NewPasskey, time: number): Promise<void> => {
  const { passkeyID, passkeyName, origin, credentialID, publicKey, counter, transports } = passkey;
  const made = await db.run(
    `INSERT INTO passkey ("passkeyID", "memberID", "passkeyName", origin, "credentialID", "publicKey", counter, transports, "createdTime")
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT ("credentialID") DO NOTHING`,
    [passkeyID, memberID, passkeyName, origin, credentialID, publicKey, counter, transports.join(' '), time],
  );
  if (made === 0) throw knownCredential();
};

/** Gives a member this passkey in place of all earlier ones, or none. */
export const replacePasskeys = async (
  db: Transaction,
  memberID: string,
  passkey: NewPasskey | undefined,
  time: number,
): Promise<void> => {
  await db.run('DELETE FROM passkey WHERE "memberID" = $1', [memberID]);
  if (passkey) await add(db, memberID, passkey, time);
};

export const addPasskey = async (
  db: Transaction,
  { passkey, challenge, time, ...change }: RequestOf<'addPasskey'>,
): Promise<void> => {
  const { memberID } = change;
  await findMember(db, change);
  checkRoomForPasskey(await count(db, memberID));
  await answer(db, challenge, time);
  await add(db, memberID, passkey, time);
};

export const removePasskey = async (
  db: Transaction,
  { passkeyID, ...change }: RequestOf<'removePasskey'>,
): Promise<void> => {
  const { memberID } = change;
  const { password } = await findMember(db, change);
  const found = await db.get('SELECT 1 FROM passkey WHERE "memberID" = $1 AND "passkeyID" = $2', [memberID, passkeyID]);
  if (!found) throw unknownPasskey();
  if (password === null && (await count(db, memberID)) === 1) throw lastWay();
  await db.run('DELETE FROM passkey WHERE "passkeyID" = $1', [passkeyID]);
};

export const usePasskey = async (
  db: Transaction,
  { passkeyID, counter, challenge, time }: RequestOf<'usePasskey'>,
): Promise<void> => {
  const row = await db.get<{ counter: number }>('SELECT counter FROM passkey WHERE "passkeyID" = $1 FOR UPDATE', [
    passkeyID,
  ]);
  if (!row || !mayFollow(counter, row.counter)) throw notSignedIn();
  await answer(db, challenge, time);
  await db.run('UPDATE passkey SET counter = $2, "lastUsedTime" = $3 WHERE "passkeyID" = $1', [
    passkeyID,
    counter,
    time,
  ]);
};

export const getChallengeKey = async (db: Connection): Promise<Uint8Array> => {
  const { secret } = await db.one<{ secret: Buffer }>('SELECT secret FROM position');
  return toChallengeKey(secret);
};

export const listPasskeys = async (db: Connection, { memberID }: RequestOf<'listPasskeys'>): Promise<Passkey[]> => {
  const rows = await db.all<Omit<Passkey, 'transports'> & { transports: string }>(
    `SELECT "passkeyID", "passkeyName", "credentialID", transports, "createdTime", "lastUsedTime" FROM passkey
     WHERE "memberID" = $1 ORDER BY "createdTime", "passkeyID"`,
    [memberID],
  );
  return rows.map((row) => ({ ...row, transports: row.transports.split(' ').filter(Boolean) }));
};

export const findPasskey = (
  db: Connection,
  { credentialID }: RequestOf<'findPasskey'>,
): Promise<SigningInByPasskey | undefined> =>
  db.get<SigningInByPasskey>(
    `SELECT m.account, m."memberID", m.token, t."tokenID", t.kind, p."passkeyID", p.origin, p."publicKey", p.counter
     FROM passkey p JOIN member m USING ("memberID") JOIN token t USING (token)
     WHERE p."credentialID" = $1 AND t."revokedTime" IS NULL`,
    [credentialID],
  );
