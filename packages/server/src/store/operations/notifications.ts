/** Operations on notifications, and on the mails that they send. */
import { createHash } from 'node:crypto';
import { limits } from '@firsthand/contract/limits';
import { Refusal } from '../../shared/refusal.ts';
import { dayMilliseconds } from '../../shared/time.ts';
import type { DueMail, DueNotification, ListedNotification, Notification, Occasion, RequestOf } from '../store.ts';
import { all, db, first, lockAccount, type Operation, run } from './operation.ts';
import { lockCreator } from './tokens.ts';

const unknownNotification = () => new Refusal('unknown_notification', { field: 'notificationID' });

/** A mail has the same ID in all attempts, and on every server. */
const toMailID = (notificationID: string, memberID: string, { type, time }: Occasion): string =>
  createHash('sha256').update(`${notificationID} ${memberID} ${type} ${time}`).digest('base64url').slice(0, 32);

function* addMails(
  { account, notificationID }: Pick<Notification, 'account' | 'notificationID'>,
  memberIDs: readonly string[],
  occasion: Occasion,
): Operation<void> {
  const { time: nextTime } = occasion;
  const shared = { account, notificationID, occasion: JSON.stringify(occasion), attempts: 0, nextTime };
  for (const memberID of memberIDs)
    yield* run(
      db
        .insertInto('notification_mail')
        .values({ ...shared, mailID: toMailID(notificationID, memberID, occasion), memberID })
        .onConflict((conflict) => conflict.column('mailID').doNothing()),
    );
}

/** Selects members who have joined. */
const selectMembers = (account: number) =>
  db
    .selectFrom('member')
    .select(['memberID', 'confirmedTime', 'confirmationSentTime'])
    .where('account', '=', account)
    .where('token', 'is not', null);

/**
 * Checks that the recipients are members, and asks those who have not confirmed their address to do so: a member's
 * address is chosen by whoever invites the member, so without this, mails could be sent to strangers.
 */
function* prepareRecipients(
  { account, notificationID }: Pick<Notification, 'account' | 'notificationID'>,
  memberIDs: readonly string[],
  time: number,
): Operation<void> {
  if (memberIDs.length === 0) return;
  const members = yield* all(selectMembers(account).where('memberID', 'in', memberIDs).forUpdate());
  const byID = new Map(members.map((member) => [member.memberID, member]));
  for (const [nth, memberID] of memberIDs.entries()) {
    const member = byID.get(memberID);
    if (!member) {
      const message = 'no member who has joined has this memberID';
      throw new Refusal('unknown_member', { field: `recipient[${nth}]`, message });
    }
    const { confirmedTime, confirmationSentTime } = member;
    if (confirmedTime !== null || (confirmationSentTime ?? 0) > time - dayMilliseconds) continue;
    yield* run(db.updateTable('member').set({ confirmationSentTime: time }).where('memberID', '=', memberID));
    yield* addMails({ account, notificationID }, [memberID], { type: 'confirmation', time });
  }
}

export function* createNotification(request: RequestOf<'createNotification'>): Operation<void> {
  const { account, notificationID, settings, reports, by = null, time, recipients: requested, ...values } = request;
  yield* lockAccount(account);
  if (by !== null) yield* lockCreator(by, time);
  const existing = yield* all(db.selectFrom('notification').select('notificationID').where('account', '=', account));
  if (existing.length >= limits.notificationsPerAccount) {
    const message = `the account already has ${limits.notificationsPerAccount} notifications: delete one with deleteNotification`;
    throw new Refusal('invalid_field', { field: 'notificationName', message });
  }
  const memberID = requested || by === null ? null : yield* findMemberOf(by);
  const recipients = requested ?? (memberID === null ? undefined : [memberID]);
  if (!recipients) {
    const message = '`recipient` is required, because the token is not of a member';
    throw new Refusal('missing_field', { field: 'recipient', message });
  }
  yield* run(
    db.insertInto('notification').values({
      ...{ ...values, account, notificationID, state: 'active', activeSince: null },
      ...{ settings: JSON.stringify(settings), reports: JSON.stringify(reports) },
      recipients: JSON.stringify(recipients),
      ...{ lastSentTime: null, lastFailureTime: null, lastFailure: '', createdTime: time, updatedTime: time },
    }),
  );
  yield* prepareRecipients({ account, notificationID }, recipients, time);
}

const columns = [
  ...(['account', 'notificationID', 'notificationName', 'kind', 'settings', 'page', 'query', 'reports'] as const),
  ...(['recipients', 'state', 'dueTime', 'activeSince', 'lastSentTime', 'lastFailureTime', 'lastFailure'] as const),
  ...(['createdTime', 'updatedTime'] as const),
];

type Texts = 'settings' | 'reports' | 'recipients';
const parse = <Row extends Record<Texts, string>>(row: Row): Omit<Row, Texts> & Pick<Notification, Texts> => ({
  ...row,
  settings: JSON.parse(row.settings),
  reports: JSON.parse(row.reports),
  recipients: JSON.parse(row.recipients),
});

export function* listNotifications(request: RequestOf<'listNotifications'>): Operation<ListedNotification[]> {
  const { account, by } = request;
  const rows = yield* all(
    db
      .selectFrom('notification as n')
      .select(columns)
      .select((eb) =>
        eb
          .selectFrom('notification_mail as m')
          .select((mails) => mails.fn.countAll<number>().as('count'))
          .whereRef('m.notificationID', '=', 'n.notificationID')
          .as('waiting'),
      )
      .where('account', '=', account)
      .orderBy('createdTime')
      .orderBy('notificationID'),
  );
  const members = yield* all(selectMembers(account));
  const confirmed = new Map(members.map(({ memberID, confirmedTime }) => [memberID, confirmedTime !== null]));
  const memberID = by === null ? null : yield* findMemberOf(by);
  return rows.map((row) => {
    const { recipients, ...notification } = parse(row);
    return {
      ...notification,
      waiting: Number(row.waiting),
      recipients: recipients.flatMap((each) => {
        const isConfirmed = confirmed.get(each);
        if (isConfirmed === undefined) return [];
        return { memberID: each, confirmed: isConfirmed, ...(each === memberID && { self: true as const }) };
      }),
    };
  });
}

/** Returns the member of a session; null for other tokens. */
function* findMemberOf(token: number): Operation<string | null> {
  const row = yield* first(db.selectFrom('token').select('memberID').where('token', '=', token));
  return row?.memberID ?? null;
}

export function* updateNotification(request: RequestOf<'updateNotification'>): Operation<void> {
  const { account, notificationID, changes, time } = request;
  const { notificationName, state, dueTime, recipients } = changes;
  const updated = yield* run(
    db
      .updateTable('notification')
      .set({
        ...(notificationName !== undefined && { notificationName }),
        ...(state !== undefined && { state, activeSince: null }),
        ...(dueTime !== undefined && { dueTime }),
        ...(recipients && { recipients: JSON.stringify(recipients) }),
        updatedTime: time,
      })
      .where('account', '=', account)
      .where('notificationID', '=', notificationID),
  );
  if (updated === 0) throw unknownNotification();
  if (recipients) yield* prepareRecipients({ account, notificationID }, recipients, time);
}

export function* deleteNotification({ account, notificationID }: RequestOf<'deleteNotification'>): Operation<void> {
  const deleted = yield* run(
    db.deleteFrom('notification').where('account', '=', account).where('notificationID', '=', notificationID),
  );
  if (deleted === 0) throw unknownNotification();
}

export function* setRecipient(request: RequestOf<'setRecipient'>): Operation<boolean> {
  const { account: ofAccount, notificationID, memberID, isRecipient, time } = request;
  const row = yield* first(
    db
      .selectFrom('notification')
      .select(['account', 'recipients'])
      .where('notificationID', '=', notificationID)
      .forUpdate(),
  );
  if (!row || (ofAccount !== undefined && ofAccount !== row.account)) return false;
  const { account } = row;
  if (isRecipient && !(yield* first(selectMembers(account).where('memberID', '=', memberID)))) return false;
  const others = (JSON.parse(row.recipients) as string[]).filter((each) => each !== memberID);
  const recipients = JSON.stringify(isRecipient ? [...others, memberID] : others);
  yield* run(db.updateTable('notification').set({ recipients }).where('notificationID', '=', notificationID));
  if (isRecipient) yield* prepareRecipients({ account, notificationID }, [memberID], time);
  return true;
}

export function* confirmMember({ memberID, time }: RequestOf<'confirmMember'>): Operation<boolean> {
  const member = yield* first(db.selectFrom('member').select('confirmedTime').where('memberID', '=', memberID));
  if (member?.confirmedTime === null)
    yield* run(db.updateTable('member').set({ confirmedTime: time }).where('memberID', '=', memberID));
  return member !== undefined;
}

const parseAccount = <Row extends { accountOrigin: string | readonly string[] }>(row: Row) => ({
  ...row,
  accountOrigin: (typeof row.accountOrigin === 'string'
    ? JSON.parse(row.accountOrigin)
    : row.accountOrigin) as string[],
});

const ofNotification = columns.map((name) => `n.${name}` as const);

export function* listDueNotifications(request: RequestOf<'listDueNotifications'>): Operation<DueNotification[]> {
  const rows = yield* all(
    db
      .selectFrom('notification as n')
      .innerJoin('account as a', 'a.account', 'n.account')
      .select(ofNotification)
      .select(['a.accountName', 'a.accountOrigin', 'a.accountTimezone'])
      .where('n.state', '=', 'active')
      .where('n.dueTime', '<=', request.time)
      .orderBy('n.dueTime')
      .orderBy('n.notificationID')
      .limit(request.limit),
  );
  return rows.map((row) => parse(parseAccount(row)));
}

export function* claimNotification(request: RequestOf<'claimNotification'>): Operation<boolean> {
  const { notificationID, dueTime, nextTime, time, activeSince, occasion, failure } = request;
  const claimed = yield* run(
    db
      .updateTable('notification')
      .set({
        ...{ dueTime: nextTime, activeSince },
        ...(failure !== undefined && { lastFailureTime: time, lastFailure: failure }),
      })
      .where('notificationID', '=', notificationID)
      .where('state', '=', 'active')
      .where('dueTime', '=', dueTime),
  );
  if (claimed === 0) return false;
  if (occasion === null) return true;
  const row = yield* first(
    db.selectFrom('notification').select(['account', 'recipients']).where('notificationID', '=', notificationID),
  );
  if (!row) return false;
  const recipients: string[] = JSON.parse(row.recipients);
  const confirmed = yield* all(selectMembers(row.account).where('confirmedTime', 'is not', null));
  const memberIDs = confirmed.map(({ memberID }) => memberID).filter((memberID) => recipients.includes(memberID));
  yield* addMails({ account: row.account, notificationID }, memberIDs, occasion);
  return true;
}

export function* listDueMails(request: RequestOf<'listDueMails'>): Operation<DueMail[]> {
  const rows = yield* all(
    db
      .selectFrom('notification_mail as l')
      .innerJoin('notification as n', 'n.notificationID', 'l.notificationID')
      .innerJoin('account as a', 'a.account', 'n.account')
      .leftJoin('member as m', 'm.memberID', 'l.memberID')
      .select(ofNotification)
      .select(['a.accountName', 'a.accountOrigin', 'a.accountTimezone', 'm.emailaddress', 'm.memberName'])
      .select(['l.mailID', 'l.memberID', 'l.occasion', 'l.attempts', 'l.nextTime'])
      .where('l.nextTime', '<=', request.time)
      .orderBy('l.nextTime')
      .orderBy('l.mailID')
      .limit(request.limit),
  );
  return rows.map(({ emailaddress, memberName, occasion, ...row }) => ({
    ...parse(parseAccount(row)),
    occasion: JSON.parse(occasion),
    member: emailaddress === null || memberName === null ? undefined : { emailaddress, memberName },
  }));
}

export function* claimMail({ mailID, nextTime, until }: RequestOf<'claimMail'>): Operation<boolean> {
  const claim = db
    .updateTable('notification_mail')
    .set((eb) => ({ nextTime: until, attempts: eb('attempts', '+', 1) }));
  return (yield* run(claim.where('mailID', '=', mailID).where('nextTime', '=', nextTime))) > 0;
}

export function* recordMail(request: RequestOf<'recordMail'>): Operation<void> {
  const { mailID, claimedUntil, time, sent, failure, nextTime } = request;
  const row = yield* first(
    db
      .selectFrom('notification_mail')
      .select('notificationID')
      .where('mailID', '=', mailID)
      .where('nextTime', '=', claimedUntil)
      .forUpdate(),
  );
  if (!row) return;
  yield* run(
    nextTime === null
      ? db.deleteFrom('notification_mail').where('mailID', '=', mailID)
      : db.updateTable('notification_mail').set({ nextTime }).where('mailID', '=', mailID),
  );
  if (!sent && failure === undefined) return;
  yield* run(
    db
      .updateTable('notification')
      .set(sent ? { lastSentTime: time } : { lastFailureTime: time, lastFailure: failure ?? '' })
      .where('notificationID', '=', row.notificationID),
  );
}
