/** Operations on passkeys, the public keys that members sign in with. */
import { unknownMember } from '../rules/accounts/members.ts';
import {
  checkRoomForPasskey,
  duplicateCredential,
  isCounterValid,
  lastCredential,
  noChallenge,
  notSignedIn,
  toDatabaseKey,
  unknownPasskey,
} from '../rules/accounts/passkeys.ts';
import type { Challenge, NewPasskey, Passkey, PasskeyCredentials, RequestOf } from '../store.ts';
import { all, db, first, type Operation, run } from './operation.ts';

/** Records that a challenge was used. Skips expired rows that another transaction is deleting. */
function* consumeChallenge({ challenge, expiresTime }: Challenge, time: number): Operation<void> {
  yield* run(
    db
      .deleteFrom('answered_challenge')
      .where('challenge', 'in', (eb) =>
        eb
          .selectFrom('answered_challenge')
          .select('challenge')
          .where('expiresTime', '<=', time)
          .forUpdate()
          .skipLocked(),
      ),
  );
  const inserted = yield* run(
    db
      .insertInto('answered_challenge')
      .values({ challenge, expiresTime })
      .onConflict((conflict) => conflict.column('challenge').doNothing()),
  );
  if (inserted === 0) throw noChallenge();
}

/**
 * Finds a member who may sign in and locks the row, which serializes changes to the member's passkeys and password. The
 * session `by`, if set, must have been created with the member's current access.
 */
export function* lockMember({
  account,
  memberID,
  by = null,
}: Pick<RequestOf<'addPasskey'>, 'account' | 'memberID' | 'by'>): Operation<{
  token: number;
  password: string | null;
}> {
  const row = yield* first(
    db
      .selectFrom('member as m')
      .innerJoin('token as t', 't.token', 'm.token')
      .select(['t.token', 'm.password'])
      .where('m.account', '=', account)
      .where('m.memberID', '=', memberID)
      .where('t.revokedTime', 'is', null)
      .forUpdate('m'),
  );
  if (!row) throw unknownMember();
  if (by === null) return row;
  // A separate query: if a change ended this session while the query above waited for the lock, this query sees the
  // change.
  const session = db.selectFrom('token').select('token').where('token', '=', by).where('createdBy', '=', row.token);
  if (!(yield* first(session.where('revokedTime', 'is', null)))) throw unknownMember();
  return row;
}

const selectPasskeys = (memberID: string) =>
  db.selectFrom('passkey').select('passkeyID').where('memberID', '=', memberID);

function* add(memberID: string, passkey: NewPasskey, time: number): Operation<void> {
  const { passkeyID, passkeyName, origin, credentialID, publicKey, counter, transports } = passkey;
  const row = { passkeyID, memberID, passkeyName, origin, credentialID, publicKey, counter, createdTime: time };
  const inserted = yield* run(
    db
      .insertInto('passkey')
      .values({ ...row, transports: transports.join(' ') })
      .onConflict((conflict) => conflict.column('credentialID').doNothing()),
  );
  if (inserted === 0) throw duplicateCredential();
}

/** Replaces all of a member's passkeys with the given passkey, if any. */
export function* replacePasskeys(memberID: string, passkey: NewPasskey | undefined, time: number): Operation<void> {
  yield* run(db.deleteFrom('passkey').where('memberID', '=', memberID));
  if (passkey) yield* add(memberID, passkey, time);
}

export function* addPasskey({ passkey, challenge, time, ...change }: RequestOf<'addPasskey'>): Operation<void> {
  const { memberID } = change;
  yield* lockMember(change);
  checkRoomForPasskey((yield* all(selectPasskeys(memberID))).length);
  yield* consumeChallenge(challenge, time);
  yield* add(memberID, passkey, time);
}

export function* removePasskey({ passkeyID, ...change }: RequestOf<'removePasskey'>): Operation<void> {
  const { password } = yield* lockMember(change);
  const passkeys = yield* all(selectPasskeys(change.memberID));
  if (!passkeys.some((each) => each.passkeyID === passkeyID)) throw unknownPasskey();
  if (password === null && passkeys.length === 1) throw lastCredential();
  yield* run(db.deleteFrom('passkey').where('passkeyID', '=', passkeyID));
}

export function* usePasskey({ passkeyID, counter, challenge, time }: RequestOf<'usePasskey'>): Operation<void> {
  const row = yield* first(db.selectFrom('passkey').select('counter').where('passkeyID', '=', passkeyID).forUpdate());
  if (!row || !isCounterValid(counter, row.counter)) throw notSignedIn();
  yield* consumeChallenge(challenge, time);
  yield* run(db.updateTable('passkey').set({ counter, lastUsedTime: time }).where('passkeyID', '=', passkeyID));
}

export function* getDatabaseKey(): Operation<Uint8Array> {
  const row = yield* first(db.selectFrom('position').select('secret'));
  return toDatabaseKey((row as { secret: Buffer }).secret);
}

export function* listPasskeys({ memberID }: RequestOf<'listPasskeys'>): Operation<Passkey[]> {
  const rows = yield* all(
    selectPasskeys(memberID)
      .select(['passkeyName', 'credentialID', 'transports', 'createdTime', 'lastUsedTime'])
      .orderBy('createdTime')
      .orderBy('passkeyID'),
  );
  return rows.map((row) => ({ ...row, transports: row.transports.split(' ').filter(Boolean) }));
}

export function* findPasskey({ credentialID }: RequestOf<'findPasskey'>): Operation<PasskeyCredentials | undefined> {
  return yield* first(
    db
      .selectFrom('passkey as p')
      .innerJoin('member as m', 'm.memberID', 'p.memberID')
      .innerJoin('token as t', 't.token', 'm.token')
      .select(['m.account', 'm.memberID', 't.token', 't.tokenID', 't.kind'])
      .select(['p.passkeyID', 'p.origin', 'p.publicKey', 'p.counter'])
      .where('p.credentialID', '=', credentialID)
      .where('t.revokedTime', 'is', null),
  );
}
