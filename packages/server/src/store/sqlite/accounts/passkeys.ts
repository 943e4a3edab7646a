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

type ChangeOfMember = Pick<RequestOf<'addPasskey'>, 'account' | 'memberID' | 'by'>;

export const createPasskeyWriter = (db: Connection) => {
  const member = db.prepare<Required<ChangeOfMember>, { password: string | null }>(`
    SELECT m.password FROM member m JOIN token t USING (token)
    WHERE m.account = @account AND m.memberID = @memberID AND t.revokedTime IS NULL
      AND (@by IS NULL OR m.token = (SELECT createdBy FROM token WHERE token = @by AND revokedTime IS NULL))`);
  const count = db.prepare<[string], number>('SELECT count(*) FROM passkey WHERE memberID = ?').pluck();
  const insert = db.prepare(`
    INSERT INTO passkey (passkeyID, memberID, passkeyName, origin, credentialID, publicKey, counter, transports, createdTime)
    VALUES (@passkeyID, @memberID, @passkeyName, @origin, @credentialID, @publicKey, @counter, @transports, @time)
    ON CONFLICT (credentialID) DO NOTHING`);
  const ofMember = db
    .prepare<{ memberID: string; passkeyID: string }, number>(
      'SELECT 1 FROM passkey WHERE memberID = @memberID AND passkeyID = @passkeyID',
    )
    .pluck();
  const remove = db.prepare('DELETE FROM passkey WHERE passkeyID = ?');
  const removeAll = db.prepare('DELETE FROM passkey WHERE memberID = ?');
  const counterOf = db.prepare<[string], number>('SELECT counter FROM passkey WHERE passkeyID = ?').pluck();
  const use = db.prepare('UPDATE passkey SET counter = @counter, lastUsedTime = @time WHERE passkeyID = @passkeyID');
  const forgetExpired = db.prepare('DELETE FROM answered_challenge WHERE expiresTime <= ?');
  const remember = db.prepare(
    'INSERT INTO answered_challenge VALUES (@challenge, @expiresTime) ON CONFLICT DO NOTHING',
  );

  /** Remembers a challenge as answered. */
  const answer = (challenge: Challenge, time: number): void => {
    forgetExpired.run(time);
    if (remember.run(challenge).changes === 0) throw noChallenge();
  };

  /** Finds a member who may sign in. A session `by` must be one of the member's present access. */
  const findMember = ({ account, memberID, by = null }: ChangeOfMember) => {
    const row = member.get({ account, memberID, by });
    if (row === undefined) throw unknownMember();
    return row;
  };

  const add = (memberID: string, { transports, ...passkey }: NewPasskey, time: number): void => {
    const made = insert.run({ ...passkey, memberID, transports: transports.join(' '), time });
    if (made.changes === 0) throw knownCredential();
  };

  return {
    /** Gives a member this passkey in place of all earlier ones, or none. */
    replacePasskeys(memberID: string, passkey: NewPasskey | undefined, time: number): void {
      removeAll.run(memberID);
      if (passkey) add(memberID, passkey, time);
    },

    addPasskey({ passkey, challenge, time, ...change }: RequestOf<'addPasskey'>): void {
      const { memberID } = change;
      findMember(change);
      checkRoomForPasskey(count.get(memberID) as number);
      answer(challenge, time);
      add(memberID, passkey, time);
    },

    removePasskey({ passkeyID, ...change }: RequestOf<'removePasskey'>): void {
      const { memberID } = change;
      const { password } = findMember(change);
      if (ofMember.get({ memberID, passkeyID }) === undefined) throw unknownPasskey();
      if (password === null && count.get(memberID) === 1) throw lastWay();
      remove.run(passkeyID);
    },

    usePasskey({ passkeyID, counter, challenge, time }: RequestOf<'usePasskey'>): void {
      const before = counterOf.get(passkeyID);
      if (before === undefined || !mayFollow(counter, before)) throw notSignedIn();
      answer(challenge, time);
      use.run({ passkeyID, counter, time });
    },
  };
};
export type PasskeyWriter = ReturnType<typeof createPasskeyWriter>;

export const createPasskeyReader = (db: Connection) => {
  const secret = db.prepare<[], Buffer>('SELECT secret FROM position').pluck();
  const list = db.prepare<{ memberID: string }, Omit<Passkey, 'transports'> & { transports: string }>(`
    SELECT passkeyID, passkeyName, credentialID, transports, createdTime, lastUsedTime FROM passkey
    WHERE memberID = @memberID ORDER BY createdTime, passkeyID`);
  const find = db.prepare<{ credentialID: string }, SigningInByPasskey>(`
    SELECT m.account, m.memberID, m.token, t.tokenID, t.kind, p.passkeyID, p.origin, p.publicKey, p.counter
    FROM passkey p JOIN member m USING (memberID) JOIN token t USING (token)
    WHERE p.credentialID = @credentialID AND t.revokedTime IS NULL`);
  return {
    getChallengeKey: (): Uint8Array => toChallengeKey(secret.get() as Buffer),
    listPasskeys: (request: RequestOf<'listPasskeys'>): Passkey[] =>
      list.all(request).map((row) => ({ ...row, transports: row.transports.split(' ').filter(Boolean) })),
    findPasskey: (request: RequestOf<'findPasskey'>): SigningInByPasskey | undefined => find.get(request),
  };
};
