/** Members: the people who may sign in to the console. */
import { accessName, checkRoomForMember, noInvitation, unknownMember } from '../../rules/members.ts';
import type { Invitation, Member, RequestOf, SigningIn } from '../../store.ts';
import type { Connection } from '../database/connection.ts';
import type { TokenWriter } from './tokens.ts';

interface Row {
  readonly member: number;
  readonly memberID: string;
  readonly account: number;
  readonly token: number;
  readonly tokenID: string;
  readonly kind: SigningIn['kind'];
}

export const createMemberWriter = (db: Connection, tokens: Pick<TokenWriter, 'createToken'>) => {
  const found =
    'SELECT m.member, m.memberID, m.account, m.token, t.tokenID, t.kind FROM member m JOIN token t USING (token)';
  const byAddress = db.prepare<[number, string], Row>(`${found} WHERE m.account = ? AND m.emailaddress = ?`);
  const byID = db.prepare<{ account: number; memberID: string }, Row>(
    `${found} WHERE m.account = @account AND m.memberID = @memberID`,
  );
  const byInvitation = db.prepare<{ hash: string; time: number }, Row>(
    `${found} WHERE m.invitation = @hash AND @time < m.invitationExpiresTime`,
  );
  const count = db.prepare<[number], number>('SELECT count(*) FROM member WHERE account = ?').pluck();
  const insert = db.prepare(`
    INSERT INTO member (memberID, account, token, emailaddress, memberName, invitation, invitationExpiresTime, createdTime)
    VALUES (@memberID, @account, (SELECT token FROM token WHERE tokenID = @tokenID), @emailaddress, @memberName, @hash,
      @expiresTime, @time)`);
  const renew = db.prepare(`
    UPDATE member SET invitation = @hash, invitationExpiresTime = @expiresTime, memberName = coalesce(@memberName, memberName)
    WHERE member = @member`);
  const join = db.prepare(`
    UPDATE member SET memberName = @memberName, password = @password, joinedTime = @time, invitation = NULL, invitationExpiresTime = NULL
    WHERE member = @member`);
  const setKind = db.prepare(
    'UPDATE token SET kind = @kind WHERE (token = @token OR (createdBy = @token AND session)) AND kind <> @kind',
  );
  const endSessions = db.prepare(
    'UPDATE token SET revokedTime = @time WHERE createdBy = @token AND session AND revokedTime IS NULL',
  );
  const revoke = db.prepare('UPDATE token SET revokedTime = @time WHERE token = @token AND revokedTime IS NULL');
  const remove = db.prepare('DELETE FROM member WHERE member = ?');

  const findMember = (request: { account: number; memberID: string }): Row => {
    const row = byID.get(request);
    if (row === undefined) throw unknownMember();
    return row;
  };

  return {
    inviteMember({ access, memberName, by: _, ...invited }: RequestOf<'inviteMember'>): { memberID: string } {
      const { account, emailaddress, kind, time, hash, expiresTime } = invited;
      const present = byAddress.get(account, emailaddress);
      if (present !== undefined) {
        const { member, memberID, token } = present;
        setKind.run({ token, kind });
        renew.run({ member, hash, expiresTime, memberName: memberName ?? null });
        return { memberID };
      }
      checkRoomForMember(count.get(account) as number);
      tokens.createToken({ ...access, account, kind, tokenName: accessName, text: null, time, session: true });
      insert.run({ ...invited, tokenID: access.tokenID, memberName: memberName ?? '' });
      return { memberID: invited.memberID };
    },

    joinMember({ hash, time, ...chosen }: RequestOf<'joinMember'>) {
      const row = byInvitation.get({ hash, time });
      if (row === undefined) throw noInvitation();
      const { member, account, memberID, token, tokenID, kind } = row;
      join.run({ ...chosen, time, member });
      endSessions.run({ token, time });
      return { account, memberID, access: { token, tokenID, kind } };
    },

    updateMember({ account, memberID, kind }: RequestOf<'updateMember'>): void {
      setKind.run({ token: findMember({ account, memberID }).token, kind });
    },

    removeMember({ account, memberID, time }: RequestOf<'removeMember'>): void {
      const { member, token } = findMember({ account, memberID });
      revoke.run({ token, time });
      remove.run(member);
    },
  };
};

export const createMemberReader = (db: Connection) => {
  const signedInTime = '(SELECT max(createdTime) FROM token s WHERE s.createdBy = m.token AND s.session)';
  const list = db.prepare<{ account: number }, Member>(`
    SELECT m.memberID, m.emailaddress, m.memberName, t.kind, m.createdTime, m.joinedTime, ${signedInTime} AS signedInTime,
      m.invitationExpiresTime
    FROM member m JOIN token t USING (token) WHERE m.account = @account ORDER BY m.emailaddress`);
  const signingIn = db.prepare<RequestOf<'findMembers'>, SigningIn>(`
    SELECT m.account, m.token, t.tokenID, t.kind, m.password
    FROM member m JOIN token t USING (token)
    WHERE m.emailaddress = @emailaddress AND m.password IS NOT NULL AND t.revokedTime IS NULL
    ORDER BY ${signedInTime} DESC, m.member LIMIT @most`);
  const invitation = db.prepare<RequestOf<'findInvitation'>, Invitation>(`
    SELECT m.memberID, m.emailaddress, m.memberName, t.kind, a.accountUUID, a.accountName
    FROM member m JOIN token t USING (token) JOIN account a ON a.account = m.account
    WHERE m.invitation = @hash AND @time < m.invitationExpiresTime`);
  return {
    listMembers: (request: RequestOf<'listMembers'>): Member[] => list.all(request),
    findMembers: (request: RequestOf<'findMembers'>): SigningIn[] => signingIn.all(request),
    findInvitation: (request: RequestOf<'findInvitation'>): Invitation | undefined => invitation.get(request),
  };
};
