/** Members: the people who may sign in to the console. */
import {
  checkRoomForMember,
  knownNetworkMilliseconds,
  maxKnownNetworks,
  noInvitation,
  unknownMember,
} from '../../rules/accounts/members.ts';
import type { Invitation, Member, RequestOf, RevokedWithMember, SigningIn } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import type { PasskeyWriter } from './passkeys.ts';
import type { TokenWriter } from './tokens.ts';

interface Row {
  readonly memberID: string;
  readonly account: number;
  readonly kind: SigningIn['kind'];
  readonly token: number | null;
  readonly joinedTime: number | null;
  readonly invitedBy: number | null;
}

interface MemberParts {
  readonly tokens: Pick<TokenWriter, 'createAccess' | 'checkMaker' | 'revokeMadeBy'>;
  readonly passkeys: Pick<PasskeyWriter, 'replacePasskeys'>;
}

export const createMemberWriter = (db: Connection, { tokens, passkeys }: MemberParts) => {
  const found = 'SELECT memberID, account, kind, token, joinedTime, invitedBy FROM member';
  const byAddress = db.prepare<[number, string], Row>(`${found} WHERE account = ? AND emailaddress = ?`);
  const byID = db.prepare<{ account: number; memberID: string }, Row>(
    `${found} WHERE account = @account AND memberID = @memberID`,
  );
  const byInvitation = db.prepare<{ hash: string; time: number }, Row>(
    `${found} WHERE invitation = @hash AND @time < invitationExpiresTime`,
  );
  const count = db.prepare<[number], number>('SELECT count(*) FROM member WHERE account = ?').pluck();
  const insert = db.prepare(`
    INSERT INTO member (memberID, account, kind, emailaddress, memberName, invitation, invitationExpiresTime, invitedBy, createdTime)
    VALUES (@memberID, @account, @kind, @emailaddress, @memberName, @hash, @expiresTime, @by, @time)`);
  const renew = db.prepare(`
    UPDATE member SET kind = @kind, memberName = coalesce(@memberName, memberName), invitation = @hash,
      invitationExpiresTime = @expiresTime, invitedBy = @by
    WHERE memberID = @memberID`);
  const join = db.prepare(`
    UPDATE member SET token = @token, memberName = @memberName, password = @password, joinedTime = @time, invitation = NULL,
      invitationExpiresTime = NULL
    WHERE memberID = @memberID`);
  const setKind = db.prepare('UPDATE member SET kind = @kind WHERE memberID = @memberID');
  const setKindOfAccess = db.prepare('UPDATE token SET kind = @kind WHERE token = @token AND kind <> @kind');
  const revoke = db.prepare('UPDATE token SET revokedTime = @time WHERE token = @token AND revokedTime IS NULL');
  const remove = db.prepare('DELETE FROM member WHERE memberID = ?');
  const forgetNetworks = db.prepare('DELETE FROM known_network WHERE memberID = ?');
  const noteNetwork = db.prepare(`
    INSERT INTO known_network (memberID, network, expiresTime) SELECT memberID, @network, @expiresTime FROM member WHERE memberID = @memberID
    ON CONFLICT DO UPDATE SET expiresTime = excluded.expiresTime`);
  const dropOldest = db.prepare(`
    DELETE FROM known_network WHERE memberID = @memberID AND network NOT IN (
      SELECT network FROM known_network WHERE memberID = @memberID ORDER BY expiresTime DESC LIMIT ${maxKnownNetworks})`);

  const findMember = (request: { account: number; memberID: string }): Row => {
    const row = byID.get(request);
    if (row === undefined) throw unknownMember();
    return row;
  };

  return {
    inviteMember({ memberName: given, by = null, ...invited }: RequestOf<'inviteMember'>) {
      const memberName = given ?? null;
      if (by !== null) tokens.checkMaker(by, invited.time);
      const { account, emailaddress, kind, hash, expiresTime } = invited;
      const present = byAddress.get(account, emailaddress);
      if (present === undefined) {
        checkRoomForMember(count.get(account) as number);
        insert.run({ ...invited, memberName: memberName ?? '', by });
        return { memberID: invited.memberID, kind };
      }
      const { memberID } = present;
      const kept = present.joinedTime === null ? kind : present.kind;
      renew.run({ memberID, kind: kept, memberName, hash, expiresTime, by });
      return { memberID, kind: kept };
    },

    joinMember({ hash, time, memberName, password, passkey, access }: RequestOf<'joinMember'>) {
      const row = byInvitation.get({ hash, time });
      if (row === undefined) throw noInvitation();
      const { memberID, account, kind, token: before, invitedBy: createdBy } = row;
      const token = tokens.createAccess({ ...access, account, kind, time, createdBy, memberID });
      join.run({ memberID, token, memberName, password, time });
      passkeys.replacePasskeys(memberID, passkey, time);
      forgetNetworks.run(memberID);
      // The sessions that it made end with it, those too that are being made.
      if (before !== null) revoke.run({ token: before, time });
      return { account, memberID, access: { token, tokenID: access.tokenID, kind } };
    },

    noteKnownNetwork({ memberIDs, network, time }: RequestOf<'noteKnownNetwork'>): void {
      for (const memberID of memberIDs) {
        noteNetwork.run({ memberID, network, expiresTime: time + knownNetworkMilliseconds });
        dropOldest.run({ memberID });
      }
    },

    updateMember({ account, memberID, kind }: RequestOf<'updateMember'>): void {
      const { token } = findMember({ account, memberID });
      setKind.run({ memberID, kind });
      if (token !== null) setKindOfAccess.run({ token, kind });
    },

    removeMember({ account, memberID, descendants = false, time }: RequestOf<'removeMember'>): RevokedWithMember {
      const { token } = findMember({ account, memberID });
      remove.run(memberID);
      if (token !== null) revoke.run({ token, time });
      return descendants ? tokens.revokeMadeBy({ account, memberID, time }) : { tokens: [], shareLinks: [] };
    },
  };
};

export const createMemberReader = (db: Connection) => {
  const signedInTime = '(SELECT max(createdTime) FROM token s WHERE s.createdBy = m.token AND s.session)';
  const list = db.prepare<{ account: number }, Member>(`
    SELECT memberID, emailaddress, memberName, kind, createdTime, joinedTime, ${signedInTime} AS signedInTime, invitationExpiresTime,
      (SELECT count(*) FROM passkey p WHERE p.memberID = m.memberID) AS passkeys
    FROM member m WHERE account = @account ORDER BY emailaddress`);
  const isKnown =
    'EXISTS (SELECT 1 FROM known_network n WHERE n.memberID = m.memberID AND n.network = @network AND @time < n.expiresTime)';
  const signingIn = db.prepare<unknown[], Omit<SigningIn, 'isKnown'> & { isKnown: 0 | 1 }>(`
    SELECT m.account, m.memberID, m.token, t.tokenID, t.kind, m.password, ${isKnown} AS isKnown
    FROM member m JOIN token t USING (token) JOIN account a ON a.account = m.account
    WHERE m.emailaddress = @emailaddress AND m.password IS NOT NULL AND t.revokedTime IS NULL
    ORDER BY a.accountUUID = @accountUUID DESC, ${signedInTime} DESC, m.token`);
  const invitation = db.prepare<RequestOf<'findInvitation'>, Invitation>(`
    SELECT m.memberID, m.emailaddress, m.memberName, m.kind, m.account, a.accountUUID, a.accountName
    FROM member m JOIN account a ON a.account = m.account
    WHERE m.invitation = @hash AND @time < m.invitationExpiresTime`);
  return {
    listMembers: (request: RequestOf<'listMembers'>): Member[] => list.all(request),
    findMembers: ({ accountUUID = '', ...request }: RequestOf<'findMembers'>): SigningIn[] =>
      signingIn.all({ accountUUID, ...request }).map((row) => ({ ...row, isKnown: row.isKnown === 1 })),
    findInvitation: (request: RequestOf<'findInvitation'>): Invitation | undefined => invitation.get(request),
  };
};
