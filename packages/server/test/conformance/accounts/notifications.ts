import { limits } from '@firsthand/contract/limits';
import { describe, expect, test } from 'vitest';
import type { DueMail, NewNotification, Occasion } from '../../../src/store/store.ts';
import { createNotification, createRecipient } from '../../fixtures/notifications.ts';
import type { Site } from '../../fixtures/site.ts';
import { expectRefusal, newID, newToken } from '../../fixtures/store.ts';
import type { NewSite } from '../sites.ts';

const day = 86_400_000;

const find = async ({ store, account }: Site, { notificationID }: Pick<NewNotification, 'notificationID'>) =>
  (await store.listNotifications({ account, by: null })).find((each) => each.notificationID === notificationID);

/** Lists what is due for this site's account only, because tests share a store. */
const listDue = async ({ store, account }: Site, time: number) =>
  (await store.listDueNotifications({ time, limit: 10_000 })).filter((each) => each.account === account);
const listMails = async ({ store, account }: Site, time: number) =>
  (await store.listDueMails({ time, limit: 10_000 })).filter((each) => each.account === account);

const claim = (
  { store }: Site,
  { notificationID, dueTime }: Pick<NewNotification, 'notificationID' | 'dueTime'>,
  occasion: Occasion | null = { type: 'digest', time: dueTime },
) => {
  const change = { nextTime: dueTime + day, time: dueTime, activeSince: null, occasion };
  return store.claimNotification({ notificationID, dueTime, ...change });
};

export const describeNotifications = (newSite: NewSite): void => {
  describe('notifications', () => {
    test('are listed oldest first, with their settings and recipients', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const [ann, ben] = [await createRecipient(site), await createRecipient(site, { isConfirmed: false })];
      const second = await createNotification(site, { kind: 'drop', settings: { percent: 50 }, time: time + 1 });
      const recipients = [ann.memberID, ben.memberID];
      const first = await createNotification(site, { recipients, by: site.server.token });
      const listed = await store.listNotifications({ account, by: ann.token });
      expect(listed.map(({ notificationID }) => notificationID)).toEqual([first.notificationID, second.notificationID]);
      const { by: _, time: __, ...values } = first;
      expect(listed[0]).toMatchObject({
        ...values,
        recipients: [
          { memberID: ann.memberID, confirmed: true },
          { memberID: ben.memberID, confirmed: false },
        ],
        ...{ state: 'active', activeSince: null, lastSentTime: null, lastFailureTime: null, lastFailure: '' },
        ...{ createdTime: time, updatedTime: time, waiting: 1 },
      });
      const { kind, settings } = second;
      expect(listed[1]).toMatchObject({ kind, settings, recipients: [] });
    });

    test('mark the session’s member, who is the default recipient', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const { memberID, token } = await createRecipient(site);
      const session = { ...newToken('viewer'), createdBy: token, session: true, time };
      await store.createToken({ ...session, account });
      const { token: by } = (await store.findAccess(session.hash, time)) as { token: number };
      await createNotification(site, { recipients: undefined, by });
      const [listed] = await store.listNotifications({ account, by });
      expect(listed?.recipients).toEqual([{ memberID, confirmed: true, self: true }]);
      const asServer = createNotification(site, { recipients: undefined, by: site.server.token });
      await expectRefusal(asServer, 'missing_field');
      expect(await store.listNotifications({ account, by: null })).toHaveLength(1);
    });

    test('are limited in number', async () => {
      const site = await newSite();
      for (let nth = 0; nth < limits.notificationsPerAccount; nth += 1) await createNotification(site);
      await expectRefusal(createNotification(site), 'invalid_field');
    });

    test('accept only members of the account who have joined', async () => {
      const [site, other] = [await newSite(), await newSite()];
      const { store, account, time } = site;
      const stranger = await createRecipient(other);
      const memberID = newID('member');
      const invitation = { account, memberID, emailaddress: `${newID('ben')}@shop.example`, kind: 'viewer' as const };
      await store.inviteMember({ ...invitation, hash: newID('hash'), expiresTime: time + 1_000, time });
      const { notificationID } = await createNotification(site);
      for (const each of [memberID, stranger.memberID, 'nobody']) {
        await expectRefusal(createNotification(site, { recipients: [each] }), 'unknown_member');
        const changes = { recipients: [each] };
        await expectRefusal(store.updateNotification({ account, notificationID, changes, time }), 'unknown_member');
        expect(await store.setRecipient({ notificationID, memberID: each, isRecipient: true, time })).toBe(false);
      }
      expect(await find(site, { notificationID })).toMatchObject({ recipients: [] });
    });

    test('change only in their own account', async () => {
      const [site, other] = [await newSite(), await newSite()];
      const { store, account, time } = site;
      const ann = await createRecipient(site);
      const { notificationID } = await createNotification(site);
      const foreign = { account: other.account, notificationID, time };
      await expectRefusal(store.updateNotification({ ...foreign, changes: {} }), 'unknown_notification');
      await expectRefusal(store.deleteNotification(foreign), 'unknown_notification');
      const recipient = { ...foreign, memberID: ann.memberID, isRecipient: true };
      expect(await store.setRecipient(recipient)).toBe(false);

      const changes = { notificationName: 'Cups', recipients: [ann.memberID], state: 'paused', dueTime: 5 } as const;
      await store.updateNotification({ account, notificationID, changes, time: time + 1 });
      const { recipients: _, ...values } = changes;
      const expected = { ...values, updatedTime: time + 1, recipients: [{ memberID: ann.memberID }] };
      expect(await find(site, { notificationID })).toMatchObject(expected);
      await store.deleteNotification({ account, notificationID, time });
      expect(await find(site, { notificationID })).toBeUndefined();
    });

    test('ask a new recipient to confirm the address, at most once a day', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const { memberID, emailaddress } = await createRecipient(site, { isConfirmed: false });
      const first = await createNotification(site, { recipients: [memberID] });
      await createNotification(site, { recipients: [memberID], time: time + day - 1 });
      const asked = [
        {
          memberID,
          member: { emailaddress, memberName: 'Ann' },
          occasion: { type: 'confirmation', time },
          attempts: 0,
        },
      ];
      expect(await listMails(site, time + 2 * day)).toMatchObject(asked);
      const again = { account, notificationID: first.notificationID, changes: { recipients: [memberID] } };
      await store.updateNotification({ ...again, time: time + day + 1 });
      expect(await listMails(site, time + 2 * day)).toHaveLength(2);
      expect(await store.confirmMember({ memberID, time })).toBe(true);
      expect(await store.confirmMember({ memberID: 'nobody', time })).toBe(false);
      await store.updateNotification({ ...again, time: time + 9 * day });
      expect(await listMails(site, time + 20 * day)).toHaveLength(2);
    });

    test('that are due are claimed once, and add an e-mail for each confirmed recipient', async () => {
      const site = await newSite();
      const { account } = site;
      const [ann, ben] = [await createRecipient(site), await createRecipient(site)];
      const cleo = await createRecipient(site, { isConfirmed: false });
      const recipients = [ann, ben, cleo].map(({ memberID }) => memberID);
      const notification = await createNotification(site, { recipients });
      const { notificationID, dueTime } = notification;
      expect(await listDue(site, dueTime - 1)).toEqual([]);
      expect(await listDue(site, dueTime)).toMatchObject([
        { account, notificationID, dueTime, accountTimezone: expect.any(String), accountOrigin: expect.any(Array) },
      ]);
      const claims = await Promise.all([
        claim(site, notification),
        claim(site, notification),
        claim(site, notification),
      ]);
      expect(claims.filter(Boolean)).toHaveLength(1);
      const mails = (await listMails(site, dueTime)).filter(({ occasion }) => occasion.type === 'digest');
      const expected = [ann, ben].map(({ memberID, emailaddress }) => ({ memberID, address: emailaddress }));
      const found = mails.map(({ memberID, member }) => ({ memberID, address: member?.emailaddress }));
      expect(found.sort((a, b) => a.memberID.localeCompare(b.memberID))).toEqual(
        expected.sort((a, b) => a.memberID.localeCompare(b.memberID)),
      );
      expect(await listDue(site, dueTime)).toEqual([]);
      expect(await find(site, notification)).toMatchObject({ dueTime: dueTime + day, waiting: 3 });
    });

    test('that are paused or deleted cannot be claimed', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const notification = await createNotification(site);
      const { notificationID } = notification;
      await store.updateNotification({ account, notificationID, changes: { state: 'paused' }, time });
      expect(await listDue(site, notification.dueTime)).toEqual([]);
      expect(await claim(site, notification)).toBe(false);
      await store.deleteNotification({ account, notificationID, time });
      expect(await claim(site, notification)).toBe(false);
    });

    test('record why a condition could not be checked, and when it began', async () => {
      const site = await newSite();
      const { dueTime, notificationID } = await createNotification(site, { kind: 'silence', settings: { hours: 2 } });
      const change = { notificationID, nextTime: dueTime + 1, time: dueTime, occasion: null, failure: 'too slow' };
      await site.store.claimNotification({ ...change, dueTime, activeSince: 7 });
      const recorded = { activeSince: 7, lastFailure: 'too slow', lastFailureTime: dueTime, dueTime: dueTime + 1 };
      expect(await find(site, { notificationID })).toMatchObject(recorded);
    });

    test('are deleted with their e-mails when account deletion begins', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const { memberID } = await createRecipient(site, { isConfirmed: false });
      const { dueTime } = await createNotification(site, { recipients: [memberID] });
      await store.deleteAccount({ account, limit: 1, time });
      expect(await listDue(site, dueTime)).toEqual([]);
      expect(await listMails(site, dueTime)).toEqual([]);
    });
  });

  describe('mails', () => {
    const createMail = async (site: Site) => {
      const { memberID } = await createRecipient(site);
      const notification = await createNotification(site, { recipients: [memberID] });
      await claim(site, notification);
      const [mail] = await listMails(site, notification.dueTime);
      return { notification, memberID, mail: mail as DueMail };
    };

    test('have an ID that depends on the recipient and the occasion', async () => {
      const site = await newSite();
      const { mail, notification } = await createMail(site);
      expect(mail.mailID).toMatch(/^[\w-]{32}$/);
      // The same occasion again, as if the clock had gone back: adds no second e-mail.
      await claim(site, { ...notification, dueTime: notification.dueTime + day }, mail.occasion);
      expect(await listMails(site, notification.dueTime + day)).toHaveLength(1);
    });

    test('are claimed by one server, and are due again later if it dies', async () => {
      const site = await newSite();
      const { store } = site;
      const { mail } = await createMail(site);
      const { mailID, nextTime } = mail;
      const until = nextTime + 600_000;
      const claims = await Promise.all([1, 2, 3].map(() => store.claimMail({ mailID, nextTime, until })));
      expect(claims.filter(Boolean)).toHaveLength(1);
      expect(await listMails(site, until - 1)).toEqual([]);
      expect(await listMails(site, until)).toMatchObject([{ mailID, attempts: 1 }]);
    });

    test('are deleted once sent, and retried otherwise', async () => {
      const site = await newSite();
      const { store } = site;
      const { mail, notification } = await createMail(site);
      const { mailID, nextTime } = mail;
      const attempt = { mailID, claimedUntil: nextTime + 10, time: nextTime + 5 };
      await store.claimMail({ mailID, nextTime, until: nextTime + 10 });
      await store.recordMail({ ...attempt, claimedUntil: 1, sent: true, nextTime: null });
      expect(await listMails(site, nextTime + 10)).toHaveLength(1);
      await store.recordMail({ ...attempt, sent: false, failure: 'refused', nextTime: nextTime + 20 });
      const failed = { waiting: 1, lastFailure: 'refused', lastFailureTime: nextTime + 5, lastSentTime: null };
      expect(await find(site, notification)).toMatchObject(failed);
      expect(await listMails(site, nextTime + 19)).toEqual([]);
      await store.claimMail({ mailID, nextTime: nextTime + 20, until: nextTime + 30 });
      await store.recordMail({ mailID, claimedUntil: nextTime + 30, time: nextTime + 25, sent: true, nextTime: null });
      expect(await find(site, notification)).toMatchObject({ waiting: 0, lastSentTime: nextTime + 25 });
      expect(await listMails(site, nextTime + day)).toEqual([]);
    });

    test('show if the recipient has unsubscribed, or was removed', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const { notification, memberID } = await createMail(site);
      const { notificationID, dueTime } = notification;
      expect(await store.setRecipient({ notificationID, memberID, isRecipient: false, time })).toBe(true);
      expect(await listMails(site, dueTime)).toMatchObject([{ recipients: [], member: { memberName: 'Ann' } }]);
      await store.removeMember({ account, memberID, time });
      expect(await listMails(site, dueTime)).toMatchObject([{ member: undefined }]);
    });
  });
};
