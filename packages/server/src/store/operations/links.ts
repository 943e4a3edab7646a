/** Links and unlinks users, and voids links. */
import { limits } from '@firsthand/contract/limits';
import { decideUnlink, findExcessLinks } from '../../identity/statements.ts';
import { Refusal } from '../../shared/refusal.ts';
import { decideNewLink, type NewLink, sequenceOf } from '../rules/links.ts';
import type { RequestOf } from '../store.ts';
import type { ContactParts, LinkStore } from './contact-store.ts';
import { recordFact, type SequenceSource } from './facts.ts';
import { all, call, createQuery, type Dialect, db, first, type Operation, ofUser, run, within } from './operation.ts';
import { dropLinks, dropSurplusLinks } from './surplus-claims.ts';

const verify = createQuery<never>(
  (dialect) => `UPDATE statement SET verified = $4 WHERE ${within(dialect, ofUser)} sequence = $3`,
);

/**
 * Links a user to a contact from now on, unless the user is already linked to it. Deletes the oldest claimed links over
 * `limits.claimedLinksPerUser` and `limits.claimedLinksPerContact`. The caller must hold the user and the contact.
 */
export function* link(
  links: LinkStore,
  account: number,
  newLink: NewLink,
): Operation<{ exists: boolean; sequence: number }> {
  const { user, contact, verified, claim } = newLink;
  const before = yield* call(() => links.readStatements(user));
  const { exists, ...decision } = decideNewLink(before, newLink);
  if (decision.do === 'append') {
    const sequence = yield* call(() => links.append(newLink));
    if (!verified) {
      yield* dropLinks(account, findExcessLinks(before, limits.claimedLinksPerUser - 1));
      yield* dropSurplusLinks(links, account, { contact, claim });
    }
    return { exists, sequence };
  }
  const { sequence } = decision.statement;
  if (decision.do === 'verify') yield* run(verify(account, user, sequence, true));
  return { exists, sequence };
}

export function* linkUser(
  { contacts, links }: ContactParts,
  { token, userUUID, time, ...names }: RequestOf<'linkUser'>,
): Operation<{ exists: boolean; linkID: string; contactUUID: string }> {
  const { account, contact, contactUUID } = yield* call(() => contacts.find(names));
  const user = yield* call(() => links.ensureUser(account, userUUID, time));
  yield* call(() => links.holdUsers([user]));
  yield* call(() => links.holdContact(contact));
  const newLink = { user, contact, verified: true, claim: null, token, time };
  const { exists, sequence } = yield* link(links, account, newLink);
  return { exists, linkID: String(sequence), contactUUID };
}

export function* unlinkUser(
  { links }: ContactParts,
  { account, token, userUUID, time }: RequestOf<'unlinkUser'>,
): Operation<{ exists: boolean; linkID: string }> {
  const user = yield* call(() => links.findUser(account, userUUID));
  if (user === undefined) throw new Refusal('unknown_user', { field: 'userUUID' });
  yield* call(() => links.holdUsers([user]));
  if (!decideUnlink(yield* call(() => links.readStatements(user)))) return { exists: true, linkID: '' };
  const unlink = { user, contact: null, verified: true, claim: null, token, time };
  const sequence = yield* call(() => links.append(unlink));
  return { exists: false, linkID: String(sequence) };
}

const selectLink = createQuery<{ user: number; contact: number | null; erased: boolean | 0 | 1 }>(({ name }) =>
  name === 'sqlite'
    ? `SELECT s.user, s.contact, (s.erased OR e.contact IS NOT NULL) AS erased FROM statement s JOIN user u ON u.user = s.user
       LEFT JOIN erasing_contact e ON e.contact = s.contact WHERE s.sequence = $2 AND u.account = $1`
    : `SELECT s."user", s.contact, s.erased FROM statement_place p
       JOIN statement s ON s.account = p.account AND s."user" = p."user" AND s.sequence = p.sequence
       WHERE p.account = $1 AND p.sequence = $2`,
);
const updateVoided = createQuery<never>(
  (dialect) => `
    UPDATE statement SET voided = $4
    WHERE ${within(dialect, ofUser)} sequence = $3 AND (voided <> 0) <> ($4 <> 0)`,
);

const voidType = (restore: boolean) => (restore ? 'link.restored' : 'link.voided');

function* voidLink(
  { contacts, links }: { contacts: SequenceSource; links: LinkStore },
  { account, restore, time }: RequestOf<'voidLinks'>,
  linkID: string,
): Operation<number> {
  const sequence = sequenceOf(linkID);
  const user = (yield* first(selectLink(account, sequence)))?.user;
  if (user !== undefined) yield* call(() => links.holdUsers([user]));
  // Reads the link again, because another transaction may have erased it before the user was held.
  const held = yield* first(selectLink(account, sequence));
  if (!held) throw new Refusal('unknown_link', { field: 'linkID' });
  if (held.erased) throw new Refusal('erased_contact', { field: 'linkID' });
  const changed = yield* run(updateVoided(account, user, sequence, restore ? 0 : 1));
  const subject = { user: held.user, ...(held.contact !== null && { contact: held.contact }) };
  if (changed > 0)
    yield* recordFact(contacts, { account, type: voidType(restore), ...subject, detail: { linkID }, time });
  return changed;
}

/**
 * SQL for the links that the token $2 claimed from $3 to $4 and that have the mark $5, except verified and accepted
 * links.
 */
const isClaimed = (dialect: Dialect) => `
  ${within(dialect, 's.account = $1')} s.token = $2 AND s.time >= $3 AND s.time < $4 AND s.voided = $5
  AND s.claim IS NOT NULL AND NOT s.verified AND NOT s.erased AND NOT EXISTS (
    SELECT 1 FROM claim c WHERE ${within(dialect, 'c.account = $1 AND c.contact = s.contact')}
      c.claim = s.claim AND c.accepted AND NOT c.voided
  )
  ${dialect.name === 'sqlite' ? 'AND NOT EXISTS (SELECT 1 FROM erasing_contact e WHERE e.contact = s.contact)' : ''}`;

const usersPerUpdate = 500;
/** On SQLite, users must be held only while an erasure is in progress. */
const selectClaimedUsers = createQuery<{ user: number }>(
  (dialect) => `
    SELECT DISTINCT s."user" FROM statement s
    WHERE ${isClaimed(dialect)} ${dialect.name === 'sqlite' ? 'AND EXISTS (SELECT 1 FROM erasing_contact)' : 'AND s."user" > $6'}
    ORDER BY s."user" ${dialect.name === 'postgres' ? `LIMIT ${usersPerUpdate}` : ''}`,
);
const updateClaimed = createQuery<never>(
  (dialect) => `
    UPDATE statement AS s SET voided = $6
    WHERE ${isClaimed(dialect)} ${dialect.name === 'postgres' ? 'AND s."user" = ANY ($7::bigint[])' : ''}`,
);

export function* voidLinks({ contacts, links }: ContactParts, request: RequestOf<'voidLinks'>): Operation<number> {
  const { account, restore, links: selection, time } = request;
  if ('linkID' in selection) return yield* voidLink({ contacts, links }, request, selection.linkID);
  const token = yield* first(
    db.selectFrom('token').select('token').where('account', '=', account).where('tokenID', '=', selection.tokenID),
  );
  if (!token) throw new Refusal('unknown_token', { field: 'tokenID' });
  const { from = 0, to = Number.MAX_SAFE_INTEGER } = selection;
  // Uses the mark 2, so that restoring these links does not restore links that were voided individually.
  const [before, after] = restore ? [2, 0] : [0, 2];
  const claimed = [account, token.token, from, to, before];
  let voided = 0;
  for (let beyond = 0; ; ) {
    const users = (yield* all(selectClaimedUsers(...claimed, beyond))).map(({ user }) => user);
    yield* call(() => links.holdUsers(users));
    voided += yield* run(updateClaimed(...claimed, after, users));
    if (users.length < usersPerUpdate) break;
    beyond = users.at(-1) as number;
  }
  const detail = { tokenID: selection.tokenID, links: voided };
  if (voided > 0) yield* recordFact(contacts, { account, type: voidType(restore), detail, time });
  return voided;
}
