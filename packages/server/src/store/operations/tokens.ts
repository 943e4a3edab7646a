/** Operations on tokens. */
import { sql } from 'kysely';
import { Refusal } from '../../shared/refusal.ts';
import { accessName, changedPassword, memberAccessToken, type NewMemberAccess } from '../rules/accounts/members.ts';
import type { ListedToken, RequestOf, RevokedWithMember, TokenDetail } from '../store.ts';
import { endedSessionRetentionMilliseconds } from './expiry.ts';
import { all, db, first, type Operation, run } from './operation.ts';

/**
 * Omits sessions that ended long ago, because there may be many. A session has the kind of the token that created it.
 */
const selectTokens = () =>
  db
    .selectFrom('token as t')
    .leftJoin('token as creator', 'creator.token', 't.createdBy')
    .select((eb) => [
      't.tokenID',
      eb
        .case()
        .when(eb.and([eb('t.session', '=', true), eb('creator.kind', 'is not', null)]))
        .then(eb.ref('creator.kind'))
        .else(eb.ref('t.kind'))
        .end()
        .$notNull()
        .as('kind'),
      't.tokenName',
      't.text',
      't.createdTime',
      'creator.tokenID as createdBy',
      't.expiresTime',
      't.session',
      't.memberID',
      't.lastUsedTime',
      't.revokedTime',
    ])
    .where((eb) =>
      eb.or([
        eb('t.session', '=', false),
        eb(
          eb.fn.coalesce('t.revokedTime', 't.expiresTime', sql.lit(9e15)),
          '>',
          Date.now() - endedSessionRetentionMilliseconds,
        ),
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

/** Locks the creating token, so that it stays live until the transaction ends. Throws a Refusal unless it is live. */
export function* lockCreator(token: number, time: number): Operation<void> {
  const creator = yield* first(
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
  if (!creator) throw new Refusal('invalid_token', { field: 'tokenUUID' });
}

/** The PostgreSQL channel on which servers notify each other that a token has changed. */
export const accessChannel = 'firsthand_access';

/**
 * Call it after each change to an existing token's rights, which other servers cache. New tokens are not cached yet.
 */
export function* notifyAccess(): Operation<void> {
  yield { postgres: `SELECT pg_notify('${accessChannel}', '')` };
}

/**
 * Returns the number for a new token on SQLite, which would otherwise reuse a deleted token's number. PostgreSQL uses a
 * sequence.
 */
function* nextToken(): Operation<{ readonly token?: number }> {
  const next = yield* first<{ token: number }>({
    sqlite: 'SELECT max(coalesce(max(token), 0), (SELECT lastToken FROM position)) + 1 AS token FROM token',
  });
  return next ?? {};
}

/** Throws a Refusal if a member's password has changed since it was verified. Locks the member against changes. */
function* checkPassword(access: number, password: string): Operation<void> {
  const member = yield* first(db.selectFrom('member').select('password').where('token', '=', access).forShare());
  if (member?.password !== password) throw changedPassword();
}

const duplicateToken = () => new Refusal('invalid_token', { message: 'this token exists or existed: choose another' });

export function* createToken(request: RequestOf<'createToken'>): Operation<void> {
  const { tokenID, account, kind, tokenName, hash, text, time, createdBy = null } = request;
  const { expiresTime = null, session = false, password } = request;
  if (createdBy !== null && password !== undefined) yield* checkPassword(createdBy, password);
  if (createdBy !== null) yield* lockCreator(createdBy, time);
  const creator =
    session && createdBy !== null
      ? yield* first(db.selectFrom('token').select('memberID').where('token', '=', createdBy))
      : undefined;
  const values = { tokenID, account, kind, tokenName, hash, text };
  const row = { ...values, createdTime: time, createdBy, expiresTime, session, memberID: creator?.memberID ?? null };
  const inserted = yield* run(
    db
      .insertInto('token')
      .values({ ...(yield* nextToken()), ...row })
      .onConflict((conflict) => conflict.column('hash').doNothing()),
  );
  if (inserted === 0) throw duplicateToken();
}

/** Creates a member's access. Its creator is the token that invited the member. Returns its row number. */
export function* createAccess(access: NewMemberAccess): Operation<number> {
  const { tokenID, account, kind, hash, time, createdBy, memberID } = access;
  const row = { tokenID, account, kind, hash, createdTime: time, createdBy, memberID };
  const inserted = yield* first(
    db
      .insertInto('token')
      .values({ ...(yield* nextToken()), ...row, tokenName: accessName, session: false })
      .returning('token'),
  );
  return (inserted as { token: number }).token;
}

/**
 * The token and all tokens that it created, directly or indirectly. UNION visits each token once, including revoked
 * ones.
 */
const createdByToken = (token: number) =>
  db.withRecursive('created(token)', (created) =>
    created
      .selectFrom('token as t')
      .select('t.token')
      .where('t.token', '=', token)
      .union(created.selectFrom('created').innerJoin('token as t', 't.createdBy', 'created.token').select('t.token')),
  );
/** The tokens that a member's sessions created. Excludes the members that it invited, and all that they created. */
const createdByMember = (account: number, memberID: string) =>
  db.withRecursive('created(token)', (created) =>
    created
      .selectFrom('token as t')
      .select('t.token')
      .where('t.account', '=', account)
      .where('t.memberID', '=', memberID)
      .union(
        created
          .selectFrom('created')
          .innerJoin('token as t', 't.createdBy', 'created.token')
          .select('t.token')
          .where((eb) => eb.or([eb('t.memberID', 'is', null), eb('t.memberID', '=', memberID)])),
      ),
  );
type CreatedTokens = ReturnType<typeof createdByToken>;

const disabledByRevocation = { state: 'disabled', disabledReason: 'token_revoked' } as const;

interface RevokedToken {
  readonly tokenID: string;
  readonly memberID: string | null;
}

/**
 * Revokes the created tokens that are live, cancels open invitations and share links, and disables webhooks. With
 * `exceptBrowser`, keeps browser tokens.
 */
function* revokeCreated(created: CreatedTokens, time: number, { exceptBrowser }: { readonly exceptBrowser: boolean }) {
  const revoked: RevokedToken[] = [];
  // The statement may wait for the lock on a token that is creating another token, and only the next statement sees the
  // new token.
  for (;;) {
    const query = created
      .updateTable('token')
      .set({ revokedTime: time })
      .where('revokedTime', 'is', null)
      .where('token', 'in', (eb) => eb.selectFrom('created').select('created.token'))
      .returning(['tokenID', 'memberID']);
    const rows = yield* all(exceptBrowser ? query.where('kind', '<>', 'browser') : query);
    if (rows.length === 0) break;
    revoked.push(...rows);
  }
  yield* run(
    created
      .updateTable('member')
      .set({ invitation: null, invitationExpiresTime: null })
      .where('invitation', 'is not', null)
      .where('invitedBy', 'in', (eb) => eb.selectFrom('created').select('created.token')),
  );
  const links = yield* all(
    created
      .deleteFrom('share_link')
      .where('createdBy', 'in', (eb) => eb.selectFrom('created').select('created.token'))
      .returning('shareID'),
  );
  yield* run(
    created
      .updateTable('webhook')
      .set(disabledByRevocation)
      .where('createdBy', 'in', (eb) => eb.selectFrom('created').select('created.token')),
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
  if (row.memberID !== null && !row.session) throw memberAccessToken();
  const { token } = row;
  yield* revoke(token, time);
  // Signing out ends only the console session, not what the member created in it.
  if (!row.session) yield* run(db.updateTable('webhook').set(disabledByRevocation).where('createdBy', '=', token));
  const result = descendants ? yield* revokeCreated(createdByToken(token), time, { exceptBrowser: false }) : undefined;
  yield* notifyAccess();
  return { revokedTime: row.revokedTime ?? time, descendants: (result?.revoked ?? []).map((each) => each.tokenID) };
}

/** Revokes a member's access, which also ends sessions that are being created. */
export function* revokeAccess(token: number, time: number): Operation<void> {
  yield* revoke(token, time);
  yield* notifyAccess();
}

/** Revokes an access's sessions, except one. */
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

/**
 * Revokes the secret tokens that a member created, directly or indirectly, and ends share links and open invitations.
 */
export function* revokeCreatedBy(account: number, memberID: string, time: number): Operation<RevokedWithMember> {
  const { revoked, shareLinks } = yield* revokeCreated(createdByMember(account, memberID), time, {
    exceptBrowser: true,
  });
  yield* notifyAccess();
  return { shareLinks, tokens: revoked.filter((token) => token.memberID === null).map(({ tokenID }) => tokenID) };
}

/** Updates tokens in ascending order, so that concurrent servers cannot deadlock. */
export function* recordTokenUses({ uses }: RequestOf<'recordTokenUses'>): Operation<void> {
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
