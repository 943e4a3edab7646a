/** Tokens: creates, revokes and lists them. */
import { sql } from 'kysely';
import { Refusal } from '../../shared/refusal.ts';
import { listedMilliseconds } from '../rules/accounts/ended-sessions.ts';
import { accessName, changedPassword, isMembers, type MemberAccess } from '../rules/accounts/members.ts';
import type { ListedToken, RequestOf, RevokedWithMember, TokenDetail } from '../store.ts';
import { all, db, first, native, type Operation, run } from './operation.ts';

/** Leaves out sessions that ended long ago: there may be many. A session has the kind of the token that created it. */
const selectTokens = () =>
  db
    .selectFrom('token as t')
    .leftJoin('token as maker', 'maker.token', 't.createdBy')
    .select((eb) => [
      't.tokenID',
      eb
        .case()
        .when(eb.and([eb('t.session', '=', true), eb('maker.kind', 'is not', null)]))
        .then(eb.ref('maker.kind'))
        .else(eb.ref('t.kind'))
        .end()
        .$notNull()
        .as('kind'),
      't.tokenName',
      't.text',
      't.createdTime',
      'maker.tokenID as createdBy',
      't.expiresTime',
      't.session',
      't.memberID',
      't.lastUsedTime',
      't.revokedTime',
    ])
    .where((eb) =>
      eb.or([
        eb('t.session', '=', false),
        eb(eb.fn.coalesce('t.revokedTime', 't.expiresTime', sql.lit(9e15)), '>', Date.now() - listedMilliseconds),
      ]),
    );

export function* tokensOf(account: number): Operation<TokenDetail[]> {
  const rows = yield* all(selectTokens().where('t.account', '=', account).orderBy('t.token'));
  return rows.map((row) => ({ ...row, session: Boolean(row.session) }));
}

export function* listTokens({ account }: RequestOf<'listTokens'>): Operation<ListedToken[]> {
  const query = selectTokens()
    .leftJoin('account as a', 'a.account', 't.account')
    .select(['t.token', 'a.accountUUID', 'a.accountName'])
    .orderBy('t.account', (order) => order.asc().nullsFirst())
    .orderBy('t.token');
  const rows = yield* all(account === undefined ? query : query.where('t.account', '=', account));
  return rows.map((row) => ({ ...row, session: Boolean(row.session) }));
}

export function* findProofKeys({ account, time }: RequestOf<'findProofKeys'>): Operation<Uint8Array[]> {
  const rows = yield* all(
    db
      .selectFrom('token')
      .select('hash')
      .where('account', '=', account)
      .where('kind', '=', 'server')
      .where('session', '=', false)
      .where('memberID', 'is', null)
      .where('revokedTime', 'is', null)
      .where((eb) => eb.or([eb('expiresTime', 'is', null), eb('expiresTime', '>', time)])),
  );
  return rows.map(({ hash }) => Uint8Array.from(Buffer.from(hash, 'hex')));
}

/** Throws a Refusal unless the token that creates something is live. Locks it, so that it stays live until the transaction ends. */
export function* holdMaker(token: number, time: number): Operation<void> {
  const maker = yield* first(
    db
      .selectFrom('token as t')
      .select('t.token')
      .where('t.token', '=', token)
      .where('t.revokedTime', 'is', null)
      .where((eb) => eb.or([eb('t.expiresTime', 'is', null), eb('t.expiresTime', '>', time)]))
      .where((eb) =>
        eb.not(
          eb.exists(
            eb
              .selectFrom('token as m')
              .select('m.token')
              .where('t.session', '=', true)
              .whereRef('m.token', '=', 't.createdBy')
              .where('m.revokedTime', 'is not', null),
          ),
        ),
      )
      .forShare(),
  );
  if (!maker) throw new Refusal('invalid_token', { field: 'tokenUUID' });
}

/** The channel on which servers of one PostgreSQL notify each other that a token has changed. */
export const accessChannel = 'firsthand_access';

/** Must follow each change of what an existing token may act for: other servers have it cached. A new token is in no cache. */
export function* notifyAccess(): Operation<void> {
  yield { postgres: `SELECT pg_notify('${accessChannel}', '')` };
}

/** The number of the next token on SQLite, where that of a deleted token would be used again otherwise. PostgreSQL draws it from a sequence. */
function* nextToken(): Operation<{ readonly token?: number }> {
  const [next = {}] = yield* native<{ token: number }>({
    sqlite: 'SELECT max(coalesce(max(token), 0), (SELECT lastToken FROM position)) + 1 AS token FROM token',
  });
  return next;
}

/** Throws a Refusal when the password with which a member signs in was changed meanwhile. Locks the member, so that a change waits. */
function* holdPassword(access: number, password: string): Operation<void> {
  const member = yield* first(db.selectFrom('member').select('password').where('token', '=', access).forShare());
  if (member?.password !== password) throw changedPassword();
}

const takenToken = () => new Refusal('invalid_token', { message: 'there is or was such a token: choose another' });

export function* createToken(request: RequestOf<'createToken'>): Operation<void> {
  const { tokenID, account, kind, tokenName, hash, text, time, createdBy = null } = request;
  const { expiresTime = null, session = false, password } = request;
  if (createdBy !== null && password !== undefined) yield* holdPassword(createdBy, password);
  if (createdBy !== null) yield* holdMaker(createdBy, time);
  const maker =
    session && createdBy !== null
      ? yield* first(db.selectFrom('token').select('memberID').where('token', '=', createdBy))
      : undefined;
  const named = { tokenID, account, kind, tokenName, hash, text };
  const row = { ...named, createdTime: time, createdBy, expiresTime, session, memberID: maker?.memberID ?? null };
  const made = yield* run(
    db
      .insertInto('token')
      .values({ ...(yield* nextToken()), ...row })
      .onConflict((conflict) => conflict.column('hash').doNothing()),
  );
  if (made === 0) throw takenToken();
}

/** Creates the access of a member; who invited the member counts as its maker. Returns its number. */
export function* createAccess(access: MemberAccess): Operation<number> {
  const { tokenID, account, kind, hash, time, createdBy, memberID } = access;
  const row = { tokenID, account, kind, hash, createdTime: time, createdBy, memberID };
  const made = yield* first(
    db
      .insertInto('token')
      .values({ ...(yield* nextToken()), ...row, tokenName: accessName, session: false })
      .returning('token'),
  );
  return (made as { token: number }).token;
}

/** The tokens that others made, directly or not, and those that may be revoked. UNION visits no token twice. Revoked tokens are followed too. */
const madeByToken = (token: number) =>
  db.withRecursive('made(token)', (made) =>
    made
      .selectFrom('token as t')
      .select('t.token')
      .where('t.token', '=', token)
      .union(made.selectFrom('made').innerJoin('token as t', 't.createdBy', 'made.token').select('t.token')),
  );
/** Begins with the sessions of the member. Other members whom the member invited stay, with all that they made. */
const madeByMember = (account: number, memberID: string) =>
  db.withRecursive('made(token)', (made) =>
    made
      .selectFrom('token as t')
      .select('t.token')
      .where('t.account', '=', account)
      .where('t.memberID', '=', memberID)
      .union(
        made
          .selectFrom('made')
          .innerJoin('token as t', 't.createdBy', 'made.token')
          .select('t.token')
          .where((eb) => eb.or([eb('t.memberID', 'is', null), eb('t.memberID', '=', memberID)])),
      ),
  );
type Made = ReturnType<typeof madeByToken>;

interface Revoked {
  readonly tokenID: string;
  readonly memberID: string | null;
}

/** Revokes the live tokens that were made, and ends the open invitations and share links. With `exceptBrowser`, browser tokens stay: pages have them. */
function* endMade(made: Made, time: number, { exceptBrowser }: { readonly exceptBrowser: boolean }) {
  const revoked: Revoked[] = [];
  // Until none is left: the statement may wait for the row of a token that is creating another, and only the next statement sees the new one.
  for (;;) {
    const query = made
      .updateTable('token')
      .set({ revokedTime: time })
      .where('revokedTime', 'is', null)
      .where('token', 'in', (eb) => eb.selectFrom('made').select('made.token'))
      .returning(['tokenID', 'memberID']);
    const rows = yield* all(exceptBrowser ? query.where('kind', '<>', 'browser') : query);
    if (rows.length === 0) break;
    revoked.push(...rows);
  }
  yield* run(
    made
      .updateTable('member')
      .set({ invitation: null, invitationExpiresTime: null })
      .where('invitation', 'is not', null)
      .where('invitedBy', 'in', (eb) => eb.selectFrom('made').select('made.token')),
  );
  const links = yield* all(
    made
      .deleteFrom('share_link')
      .where('createdBy', 'in', (eb) => eb.selectFrom('made').select('made.token'))
      .returning('shareID'),
  );
  return { revoked, shareLinks: links.map(({ shareID }) => shareID) };
}

/** Keeps the time of an earlier revocation. */
const revoke = (token: number, time: number) =>
  run(db.updateTable('token').set({ revokedTime: time }).where('token', '=', token).where('revokedTime', 'is', null));

export function* revokeToken({
  account,
  tokenID,
  descendants = false,
  time,
}: RequestOf<'revokeToken'>): Operation<{ revokedTime: number; descendants: string[] }> {
  const row = yield* first(
    db
      .selectFrom('token')
      .select(['token', 'memberID', 'session', 'revokedTime'])
      .where('tokenID', '=', tokenID)
      .where('account', 'is not distinct from', account)
      .forUpdate(),
  );
  if (!row) throw new Refusal('unknown_token', { field: 'tokenID' });
  if (row.memberID !== null && !row.session) throw isMembers();
  const { token } = row;
  yield* revoke(token, time);
  const ended = descendants ? yield* endMade(madeByToken(token), time, { exceptBrowser: false }) : undefined;
  yield* notifyAccess();
  return { revokedTime: row.revokedTime ?? time, descendants: (ended?.revoked ?? []).map((each) => each.tokenID) };
}

/** Revokes the access of a member, which ends its sessions, those too that are being made. */
export function* revokeAccess(token: number, time: number): Operation<void> {
  yield* revoke(token, time);
  yield* notifyAccess();
}

/** Revokes the sessions of an access, except one. */
export function* endOtherSessions(access: number, session: number, time: number): Operation<void> {
  yield* run(
    db
      .updateTable('token')
      .set({ revokedTime: time })
      .where('createdBy', '=', access)
      .where('session', '=', true)
      .where('token', '<>', session)
      .where('revokedTime', 'is', null),
  );
  yield* notifyAccess();
}

/** Revokes the secret tokens that a member made, directly or not, and ends the share links and open invitations. */
export function* revokeMadeBy(account: number, memberID: string, time: number): Operation<RevokedWithMember> {
  const { revoked, shareLinks } = yield* endMade(madeByMember(account, memberID), time, { exceptBrowser: true });
  yield* notifyAccess();
  return { shareLinks, tokens: revoked.filter((token) => token.memberID === null).map(({ tokenID }) => tokenID) };
}

/** Updates tokens in ascending order, so that no two servers wait for each other. */
export function* noteTokenUses({ uses }: RequestOf<'noteTokenUses'>): Operation<void> {
  for (const [token, time] of [...uses].sort(([a], [b]) => a - b)) {
    yield* run(
      db
        .updateTable('token')
        .set({ lastUsedTime: time })
        .where('token', '=', token)
        .where((eb) => eb.or([eb('lastUsedTime', 'is', null), eb('lastUsedTime', '<', time)])),
    );
  }
}
