/** Operations on members, who may sign in to the console. */
import {
  checkRoomForMember,
  knownNetworkMilliseconds,
  maxKnownNetworks,
  noInvitation,
  unknownMember,
} from '../rules/accounts/members.ts';
import type { Invitation, Member, MemberAccess, MemberCredentials, RequestOf, RevokedWithMember } from '../store.ts';
import { all, db, first, lockAccount, type Operation, run } from './operation.ts';
import { lockMember, replacePasskeys } from './passkeys.ts';
import { createAccess, endOtherSessions, lockCreator, notifyAccess, revokeAccess, revokeCreatedBy } from './tokens.ts';

/** Finds a member and locks the row. */
const selectMember = () =>
  db.selectFrom('member').select(['memberID', 'account', 'kind', 'token', 'joinedTime', 'invitedBy']).forUpdate();

function* findMember(account: number, memberID: string) {
  const row = yield* first(selectMember().where('account', '=', account).where('memberID', '=', memberID));
  if (!row) throw unknownMember();
  return row;
}

export function* inviteMember(
  request: RequestOf<'inviteMember'>,
): Operation<{ memberID: string; kind: MemberCredentials['kind'] }> {
  const { account, memberID, memberName, emailaddress, kind, hash, expiresTime, time, by = null } = request;
  yield* lockAccount(account);
  if (by !== null) yield* lockCreator(by, time);
  const invitation = { invitation: hash, invitationExpiresTime: expiresTime, invitedBy: by };
  const existing = yield* first(selectMember().where('account', '=', account).where('emailaddress', '=', emailaddress));
  if (existing) {
    const member = { memberID: existing.memberID, kind: existing.joinedTime === null ? kind : existing.kind };
    const name = memberName == null ? {} : { memberName };
    yield* run(
      db
        .updateTable('member')
        .set({ ...invitation, ...name, kind: member.kind })
        .where('memberID', '=', member.memberID),
    );
    return member;
  }
  const members = yield* all(db.selectFrom('member').select('memberID').where('account', '=', account));
  checkRoomForMember(members.length);
  const row = { memberID, account, kind, emailaddress, memberName: memberName ?? '', createdTime: time };
  yield* run(db.insertInto('member').values({ ...row, ...invitation }));
  return { memberID, kind };
}

export function* joinMember(
  request: RequestOf<'joinMember'>,
): Operation<{ account: number; memberID: string; access: MemberAccess }> {
  const { hash, memberName, password, passkey, time, access } = request;
  const member = yield* first(selectMember().where('invitation', '=', hash).where('invitationExpiresTime', '>', time));
  if (!member) throw noInvitation();
  const { memberID, account, kind, token: before, invitedBy: createdBy } = member;
  const token = yield* createAccess({ ...access, account, kind, time, createdBy, memberID });
  yield* run(
    db
      .updateTable('member')
      .set({ token, memberName, password, joinedTime: time, invitation: null, invitationExpiresTime: null })
      .where('memberID', '=', memberID),
  );
  yield* replacePasskeys(memberID, passkey, time);
  yield* run(db.deleteFrom('known_network').where('memberID', '=', memberID));
  if (before !== null) yield* revokeAccess(before, time);
  return { account, memberID, access: { token, tokenID: access.tokenID, kind } };
}

export function* changePassword({ password, ...change }: RequestOf<'changePassword'>): Operation<void> {
  const { memberID, by, time } = change;
  const { token } = yield* lockMember(change);
  yield* run(db.updateTable('member').set({ password }).where('memberID', '=', memberID));
  yield* endOtherSessions(token, by, time);
}

/** Updates members in sorted order, so that concurrent servers cannot deadlock. */
export function* recordKnownNetwork({ memberIDs, network, time }: RequestOf<'recordKnownNetwork'>): Operation<void> {
  const expiresTime = time + knownNetworkMilliseconds;
  for (const memberID of [...memberIDs].sort()) {
    const member = yield* first(selectMember().where('memberID', '=', memberID));
    if (!member) continue;
    yield* run(
      db
        .insertInto('known_network')
        .values({ memberID, network, expiresTime })
        .onConflict((conflict) => conflict.columns(['memberID', 'network']).doUpdateSet({ expiresTime })),
    );
    const networks = db.selectFrom('known_network').select('network').where('memberID', '=', memberID);
    yield* run(
      db
        .deleteFrom('known_network')
        .where('memberID', '=', memberID)
        .where('network', 'not in', networks.orderBy('expiresTime', 'desc').limit(maxKnownNetworks)),
    );
  }
}

export function* updateMember({ account, memberID, kind }: RequestOf<'updateMember'>): Operation<void> {
  const { token } = yield* findMember(account, memberID);
  yield* run(db.updateTable('member').set({ kind }).where('memberID', '=', memberID));
  if (token === null) return;
  yield* run(db.updateTable('token').set({ kind }).where('token', '=', token).where('kind', '<>', kind));
  yield* notifyAccess();
}

export function* removeMember(request: RequestOf<'removeMember'>): Operation<RevokedWithMember> {
  const { account, memberID, descendants = false, time } = request;
  const { token } = yield* findMember(account, memberID);
  yield* run(db.deleteFrom('member').where('memberID', '=', memberID));
  if (token !== null) yield* revokeAccess(token, time);
  return descendants ? yield* revokeCreatedBy(account, memberID, time) : { tokens: [], shareLinks: [] };
}

/** Selects from `m` when each member last signed in: the creation time of the newest session. */
const selectMembers = () =>
  db.selectFrom('member as m').select((eb) =>
    eb
      .selectFrom('token as s')
      .select((sessions) => sessions.fn.max('s.createdTime').as('time'))
      .whereRef('s.createdBy', '=', 'm.token')
      .where('s.session', '=', true)
      .as('signedInTime'),
  );

export function* listMembers({ account }: RequestOf<'listMembers'>): Operation<Member[]> {
  const rows = yield* all(
    selectMembers()
      .select(['m.memberID', 'm.emailaddress', 'm.memberName', 'm.kind', 'm.createdTime', 'm.joinedTime'])
      .select('m.invitationExpiresTime')
      .select((eb) => eb('m.password', 'is not', null).as('hasPassword'))
      .select((eb) =>
        eb
          .selectFrom('passkey as p')
          .select((passkeys) => passkeys.fn.countAll<number>().as('count'))
          .whereRef('p.memberID', '=', 'm.memberID')
          .as('passkeys'),
      )
      .where('m.account', '=', account)
      .orderBy('m.emailaddress')
      .$narrowType<{ passkeys: number }>(),
  );
  return rows.map((row) => ({ ...row, hasPassword: Boolean(row.hasPassword) }));
}

export function* findMembers(request: RequestOf<'findMembers'>): Operation<MemberCredentials[]> {
  const { emailaddress, accountUUID = '', network, time } = request;
  const rows = yield* all(
    selectMembers()
      .innerJoin('token as t', 't.token', 'm.token')
      .innerJoin('account as a', 'a.account', 'm.account')
      .leftJoin('known_network as n', (join) =>
        join.onRef('n.memberID', '=', 'm.memberID').on('n.network', '=', network).on('n.expiresTime', '>', time),
      )
      .select(['m.account', 'm.memberID', 't.token', 't.tokenID', 't.kind', 'm.password', 'a.accountUUID'])
      .select('n.network')
      .where('m.emailaddress', '=', emailaddress)
      .where('m.password', 'is not', null)
      .where('t.revokedTime', 'is', null)
      .$narrowType<{ password: string }>(),
  );
  // Sorts in JavaScript, because an e-mail address belongs to few accounts.
  const isNamed = (row: { accountUUID: string }) => Number(row.accountUUID === accountUUID);
  return rows
    .sort((a, b) => isNamed(b) - isNamed(a) || (b.signedInTime ?? 0) - (a.signedInTime ?? 0) || a.token - b.token)
    .map(({ accountUUID: _, signedInTime: __, network: knownNetwork, ...row }) => ({
      ...row,
      isKnown: knownNetwork !== null,
    }));
}

export function* findInvitation({ hash, time }: RequestOf<'findInvitation'>): Operation<Invitation | undefined> {
  return yield* first(
    db
      .selectFrom('member as m')
      .innerJoin('account as a', 'a.account', 'm.account')
      .select(['m.memberID', 'm.emailaddress', 'm.memberName', 'm.kind', 'm.account', 'a.accountUUID', 'a.accountName'])
      .where('m.invitation', '=', hash)
      .where('m.invitationExpiresTime', '>', time),
  );
}
