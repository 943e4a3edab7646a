import type { ErrorCode } from '@firsthand/contract/errors';
import { limits } from '@firsthand/contract/limits';
import { webhookTypes } from '@firsthand/contract/webhook';
import { describe, expect, test, vi } from 'vitest';
import type { Delivery, DeliveryRecord, NewWebhook, Webhook } from '../../../src/store/store.ts';
import type { Site } from '../../fixtures/site.ts';
import { ann, ben, day, expectRefusal, hashText, hour, laptop, newID, phone } from '../../fixtures/store.ts';
import { soon } from '../../fixtures/timeouts.ts';
import type { NewSite } from '../sites.ts';

/** Reads in ascending order, because such a read waits for writes in progress. */
const lastSequence = async ({ store, account }: Site) =>
  (await store.getEvents({ account, order: 'asc', limit: 1_000 })).through;

const createWebhook = async (site: Site, changes: Partial<NewWebhook> = {}) => {
  const webhook: NewWebhook = {
    account: site.account,
    webhookID: newID('webhook'),
    url: 'https://crm.example/hook',
    description: 'CRM',
    types: webhookTypes,
    filter: {},
    payload: 'thin',
    sentThrough: await lastSequence(site),
    by: site.server.token,
    time: site.time,
    ...changes,
  };
  await site.store.createWebhook(webhook);
  return webhook;
};

const findWebhook = async ({ store, account }: Site, webhookID: string) =>
  (await store.listWebhooks({ account })).find((webhook) => webhook.webhookID === webhookID) as Webhook;

/** Returns the facts after a sequence, without sequences and times. */
const factsAfter = async (site: Site, after: number) => {
  const { store, account } = site;
  const query = { account, after, through: await lastSequence(site), limit: 1_000, recognized: true };
  const { facts } = await store.listFacts(query);
  return facts.map(({ type, contactUUID, otherContactUUID, userUUID, detail }) => {
    const identifiers = { contactUUID, otherContactUUID, userUUID };
    const given = Object.entries(identifiers).filter(([, value]) => value !== '');
    return { type, ...Object.fromEntries(given), ...detail };
  });
};

const server = 'server-1';
const lease = ({ webhookID, sentThrough }: Webhook | NewWebhook, time: number, by = server) => {
  return { webhookID, server: by, sentThrough, time, until: time + 60_000 };
};
const failedDelivery = (sequence: number, changes: Partial<Delivery> = {}): Delivery => ({
  ...{ sequence, attempts: 1, firstTime: 1, lastTime: 2, nextTime: 3, httpStatus: 500, error: 'HTTP 500' },
  response: 'no',
  ...changes,
});
const newRecord = (webhookID: string, changes: Partial<DeliveryRecord>): DeliveryRecord => ({
  ...{ webhookID, server, time: 10, sentThrough: 0, failures: 0, waitUntil: 0, succeeded: false },
  failed: [],
  resolved: [],
  ...changes,
});

export const describeWebhooks = (newSite: NewSite): void => {
  describe('webhooks', () => {
    test('are listed oldest first, with their settings', async () => {
      const site = await newSite();
      const filter = { eventNames: ['Bought'], attrID: 'product', attrValue: 'Teapot' };
      const second = await createWebhook(site, {
        time: site.time + 1,
        payload: 'full',
        types: ['event.logged'],
        filter,
      });
      const first = await createWebhook(site);
      const fields = ({ by: _, time, ...webhook }: NewWebhook) => ({
        ...webhook,
        ...{ state: 'active', disabledReason: '', failures: 0, waitUntil: 0, retrying: 0, nextRetryTime: null },
        ...{ secretTime: time, previousSecretTime: null, createdTime: time, updatedTime: time },
        ...{ lastSuccessTime: null, lastFailureTime: null, lastFailure: '', leasedBy: '', leasedUntil: 0 },
        ...{ skippedEvents: 0, skippedFrom: 0, skippedThrough: 0 },
      });
      expect(await site.store.listWebhooks({ account: site.account })).toEqual([fields(first), fields(second)]);
    });

    test('can be changed, paused and deleted, only in their own account', async () => {
      const site = await newSite();
      const other = await newSite();
      const { store, account, time } = site;
      const { webhookID } = await createWebhook(site);
      const changes = { url: 'https://other.example/', types: ['link.voided'] as const, state: 'paused' as const };
      await store.updateWebhook({ account, webhookID, changes, time: time + 1 });
      expect(await findWebhook(site, webhookID)).toMatchObject({
        ...changes,
        updatedTime: time + 1,
        description: 'CRM',
      });
      const active = await store.listWebhooks({});
      expect(active.map((webhook) => webhook.webhookID)).not.toContain(webhookID);

      const foreign = { account: other.account, webhookID, time };
      await expectRefusal(store.updateWebhook({ ...foreign, changes }), 'unknown_webhook');
      await expectRefusal(store.rotateWebhookSecret(foreign), 'unknown_webhook');
      await expectRefusal(store.resendDeliveries({ ...foreign, sequences: [1] }), 'unknown_webhook');
      await expectRefusal(store.deleteWebhook(foreign), 'unknown_webhook');
      await store.deleteWebhook({ account, webhookID, time });
      expect(await store.listWebhooks({ account })).toEqual([]);
    });

    test('are limited in number for each account', async () => {
      const site = await newSite();
      for (let count = 0; count < limits.webhooksPerAccount; count += 1) await createWebhook(site);
      await expectRefusal(createWebhook(site), 'invalid_field');
    });

    test('keep the previous secret’s creation time after a rotation', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const { webhookID } = await createWebhook(site);
      expect(await store.rotateWebhookSecret({ account, webhookID, time: time + 5 })).toEqual({ secretTime: time + 5 });
      // The secret changes even if the clock does not advance.
      expect(await store.rotateWebhookSecret({ account, webhookID, time })).toEqual({ secretTime: time + 6 });
      expect(await findWebhook(site, webhookID)).toMatchObject({
        secretTime: time + 6,
        previousSecretTime: time + 5,
      });
    });

    test.each([true, false])(
      'are disabled when the token that created them is revoked (descendants: %s)',
      async (descendants) => {
        const site = await newSite();
        const { store, account, time, server: creator } = site;
        const { webhookID } = await createWebhook(site);
        await store.revokeToken({ account, tokenID: creator.tokenID, descendants, time });
        expect(await findWebhook(site, webhookID)).toMatchObject({
          state: 'disabled',
          disabledReason: 'token_revoked',
        });
      },
    );

    test('stay active when the console session that created them ends', async () => {
      const site = await newSite();
      const { store, account, time, server: creator } = site;
      const session = { tokenID: newID('session'), hash: hashText(newID('session')), createdBy: creator.token };
      const kind = { kind: 'server', tokenName: '', text: null, session: true } as const;
      await store.createToken({ account, ...session, ...kind, expiresTime: time + 1_000, time });
      const access = await store.findAccess(session.hash, time);
      const { webhookID } = await createWebhook(site, { by: access?.token as number });
      await store.revokeToken({ account, tokenID: session.tokenID, time });
      expect(await findWebhook(site, webhookID)).toMatchObject({ state: 'active' });
    });

    test('can skip messages, but never return to earlier ones', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const { webhookID } = await createWebhook(site, { sentThrough: 5 });
      await store.updateWebhook({ account, webhookID, changes: { sentThrough: 9 }, time });
      await store.updateWebhook({ account, webhookID, changes: { sentThrough: 7 }, time });
      expect(await findWebhook(site, webhookID)).toMatchObject({ sentThrough: 9 });
    });
  });

  describe('deliveries', () => {
    test('are recorded only by the server that has the lease', async () => {
      const site = await newSite();
      const { store, time } = site;
      const webhook = await createWebhook(site, { sentThrough: 0 });
      const { webhookID } = webhook;
      expect(await store.leaseWebhook({ ...lease(webhook, time), sentThrough: -1 })).toBe(false);
      expect(await store.leaseWebhook(lease(webhook, time))).toBe(true);
      expect(await store.recordDeliveries(newRecord(webhookID, { server: 'server-2' }))).toBeUndefined();
      const record = { sentThrough: 7, succeeded: true, failures: 0, time: time + 1 };
      expect(await store.recordDeliveries(newRecord(webhookID, record))).toMatchObject({
        ...{ sentThrough: 7, lastSuccessTime: time + 1, lastFailureTime: null, leasedUntil: 0 },
      });
      const other = lease({ ...webhook, sentThrough: 7 }, time + 1, 'server-2');
      expect(await store.leaseWebhook(other)).toBe(true);
    });

    test('pause for all servers after failures', async () => {
      const site = await newSite();
      const { store, time } = site;
      const webhook = await createWebhook(site, { sentThrough: 0 });
      await store.leaseWebhook(lease(webhook, time));
      await store.recordDeliveries(newRecord(webhook.webhookID, { failures: 1, waitUntil: time + 5_000 }));
      expect(await store.leaseWebhook(lease(webhook, time + 4_999, 'server-2'))).toBe(false);
      expect(await store.leaseWebhook(lease(webhook, time + 5_000, 'server-2'))).toBe(true);
    });

    test('are stored without their responses if a contact was erased in the meantime', async () => {
      const site = await newSite();
      const { store, time } = site;
      const { contactUUID } = await site.server.createContact({ userUUID: null, address: ann });
      const webhook = await createWebhook(site);
      const { webhookID } = webhook;
      await store.leaseWebhook(lease(webhook, time));
      await site.erase(contactUUID);
      const record = newRecord(webhookID, { failed: [failedDelivery(5)], sentThrough: webhook.sentThrough });
      expect(await store.recordDeliveries(record)).toBeDefined();
      expect(await store.listDeliveries({ webhookID, limit: 10 })).toEqual([failedDelivery(5, { response: '' })]);
    });

    test('are limited in how many can wait to be resent', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const { webhookID } = await createWebhook(site);
      const sequences = Array.from({ length: limits.retriesPerWebhook }, (_, nth) => nth + 1);
      await store.resendDeliveries({ account, webhookID, sequences, time });
      await store.resendDeliveries({ account, webhookID, sequences: [1, 2], time });
      const more = limits.retriesPerWebhook + 1;
      const refused = store.resendDeliveries({ account, webhookID, sequences: [more], time });
      await expect(refused).rejects.toMatchObject({ code: 'invalid_field', field: 'sequence' });
      expect(await store.listDeliveries({ webhookID, limit: 10, after: more - 1 })).toEqual([]);
    });

    test('are listed while they fail, and become due in the order of their next attempts', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const webhook = await createWebhook(site, { sentThrough: 0 });
      const { webhookID } = webhook;
      await store.leaseWebhook(lease(webhook, time));
      const failed = [
        failedDelivery(5, { nextTime: 300 }),
        failedDelivery(6, { nextTime: 200 }),
        failedDelivery(7, { nextTime: null, httpStatus: null, error: 'timeout' }),
      ];
      const failure = { failure: 'timeout', failures: 1, waitUntil: 99 };
      const recorded = await store.recordDeliveries(newRecord(webhookID, { failed, sentThrough: 7, ...failure }));
      expect(recorded).toMatchObject({ retrying: 2, nextRetryTime: 200, lastFailure: 'timeout', failures: 1 });
      expect(await store.listDeliveries({ webhookID, limit: 10 })).toEqual(failed);
      expect(await store.listDeliveries({ webhookID, limit: 10, after: 5, through: 6 })).toEqual([failed[1]]);
      expect(await store.listDeliveries({ webhookID, limit: 10, dueTime: 300 })).toEqual([failed[1], failed[0]]);
      expect(await store.listDeliveries({ webhookID, limit: 10, dueTime: 299 })).toEqual([failed[1]]);

      await store.leaseWebhook(lease({ ...webhook, sentThrough: 7 }, time));
      await store.recordDeliveries(newRecord(webhookID, { resolved: [6], sentThrough: 7 }));
      await store.resendDeliveries({ account, webhookID, sequences: [7], time: 400 });
      expect(await store.listDeliveries({ webhookID, limit: 10, dueTime: 400 })).toEqual([
        failed[0],
        {
          ...failedDelivery(7),
          attempts: 0,
          firstTime: 400,
          lastTime: 400,
          nextTime: 400,
          httpStatus: null,
          error: '',
          response: '',
        },
      ]);
    });

    test('that failed at every attempt are deleted beyond a limit, the oldest first', async () => {
      const site = await newSite();
      const { store, time } = site;
      const webhook = await createWebhook(site);
      const { webhookID } = webhook;
      await store.leaseWebhook(lease(webhook, time));
      const count = limits.failedDeliveriesPerWebhook + 3;
      const failed = Array.from({ length: count }, (_, nth) => failedDelivery(nth + 1, { nextTime: null }));
      await store.recordDeliveries(newRecord(webhookID, { failed }));
      const listed = await store.listDeliveries({ webhookID, limit: 2 * count });
      expect(listed).toEqual(failed.slice(3));
    });

    test('end when a webhook is disabled', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const webhook = await createWebhook(site);
      const { webhookID } = webhook;
      await store.leaseWebhook(lease(webhook, time));
      await store.recordDeliveries(newRecord(webhookID, { disabledReason: 'gone', failures: 1, waitUntil: 50 }));
      const disabled = await findWebhook(site, webhookID);
      expect(disabled).toMatchObject({ state: 'disabled', disabledReason: 'gone' });
      expect(await store.leaseWebhook(lease(disabled, time))).toBe(false);
      await store.updateWebhook({ account, webhookID, changes: { state: 'active' }, time });
      const resumed = { state: 'active', disabledReason: '', failures: 0, waitUntil: 0 };
      expect(await findWebhook(site, webhookID)).toMatchObject(resumed);
    });
  });

  describe('the last sequence', () => {
    test('includes contact changes after the newest event', async () => {
      const site = await newSite();
      const { store, account } = site;
      for (const nth of [1, 2]) await site.browser.log({ eventUUID: newID('event'), eventID: nth });
      const { sentThrough } = await createWebhook(site, { types: ['contact.created'] });
      await site.server.createContact({ userUUID: null, address: ann });
      // A transaction in progress can hide it for a moment.
      await vi.waitFor(async () => {
        const through = await store.getLastSequence({ account });
        const query = { account, after: sentThrough, through, limit: 10, recognized: false };
        expect((await store.listFacts(query)).facts).toMatchObject([{ type: 'contact.created' }]);
      }, soon);
    });
  });

  describe('facts', () => {
    test('report each change to contacts and links, in order', async () => {
      const site = await newSite();
      const { server: caller, browser } = site;
      const { sentThrough } = await createWebhook(site);
      await browser.log({ userUUID: laptop });
      const { contactUUID } = await caller.createContact({ userUUID: laptop, address: ann });
      await site.update({ account: site.account, contactUUID, fields: { contactFirstname: 'Ann' } });
      await site.update({ account: site.account, contactUUID, fields: { contactFirstname: 'Ann' } });
      const other = await caller.createContact({ userUUID: null, address: ben });
      await site.merge(contactUUID, other.contactUUID);
      await site.unmerge(other.contactUUID);
      const { linkID } = await site.link(phone, contactUUID);
      await site.voidLink(linkID);
      await site.restoreLink(linkID);
      const linked = { contactUUID, userUUID: phone, linkID };
      expect(await factsAfter(site, sentThrough)).toEqual([
        { type: 'contact.created', contactUUID },
        expect.objectContaining({ type: 'contact.recognized', contactUUID, userUUID: laptop, verified: true }),
        { type: 'contact.updated', contactUUID, updated: ['contactFirstname'] },
        { type: 'contact.created', contactUUID: other.contactUUID },
        { type: 'contact.merged', contactUUID, otherContactUUID: other.contactUUID },
        { type: 'contact.unmerged', contactUUID, otherContactUUID: other.contactUUID },
        { type: 'contact.recognized', verified: true, ...linked },
        { type: 'link.voided', ...linked },
        { type: 'link.restored', ...linked },
      ]);
    });

    test('about a browser’s claim are the link and, if it is new, the contact', async () => {
      const site = await newSite();
      const { server: caller, browser } = site;
      const { contactUUID } = await caller.createContact({ userUUID: null, address: ann });
      const { sentThrough } = await createWebhook(site);
      await browser.createContact({ userUUID: laptop, address: ann });
      const recognized = { type: 'contact.recognized', contactUUID, userUUID: laptop, verified: false };
      expect(await factsAfter(site, sentThrough)).toEqual([expect.objectContaining(recognized)]);
      const before = await lastSequence(site);
      await browser.createContact({ userUUID: phone, address: ben });
      expect((await factsAfter(site, before)).map(({ type }) => type)).toEqual([
        'contact.created',
        'contact.recognized',
      ]);
    });

    test('about an erased contact are replaced by a fact about the erasure', async () => {
      const site = await newSite();
      const { server: caller } = site;
      const { sentThrough, webhookID } = await createWebhook(site);
      const { contactUUID } = await caller.createContact({ userUUID: laptop, address: ann });
      const other = await caller.createContact({ userUUID: null, address: ben });
      await site.store.resendDeliveries({ account: site.account, webhookID, sequences: [1], time: 1 });
      await site.erase(contactUUID);
      expect(await factsAfter(site, sentThrough)).toEqual([
        { type: 'contact.created', contactUUID: other.contactUUID },
        { type: 'contact.erased', contactUUID },
      ]);
    });

    test('are read page by page, up to a given sequence', async () => {
      const site = await newSite();
      const { store, account, server: caller } = site;
      const { sentThrough } = await createWebhook(site);
      for (const userUUID of [laptop, phone])
        await caller.createContact({ userUUID, address: `${userUUID}@example.com` });
      const through = await lastSequence(site);
      const all = await store.listFacts({ account, after: sentThrough, through, limit: 100, recognized: true });
      expect(all.facts).toHaveLength(4);
      const paged = [];
      for (let after = sentThrough; after < through; ) {
        const page = await store.listFacts({ account, after, through, limit: 1, recognized: true });
        expect(page.through).toBeGreaterThan(after);
        paged.push(...page.facts);
        after = page.through;
      }
      expect(paged).toEqual(all.facts);
      const some = await store.listFacts({ account, after: sentThrough, through, limit: 100, recognized: false });
      expect(some.facts.map(({ type }) => type)).toEqual(['contact.created', 'contact.created']);
    });

    test('report a contact that becomes unsubscribed', async () => {
      const site = await newSite();
      const { account, server: caller } = site;
      const { contactUUID } = await caller.createContact({ userUUID: null, address: ann });
      const { sentThrough } = await createWebhook(site, { types: ['contact.unsubscribed'] });
      for (const contactStatus of ['archived', 'unsubscribed', 'unsubscribed', 'active'] as const)
        await site.update({ account, contactUUID, contactStatus });
      expect(await factsAfter(site, sentThrough)).toEqual([{ type: 'contact.unsubscribed', contactUUID }]);
    });

    test('report refused requests by code, at most once per hour', async () => {
      const site = await newSite();
      const { store, account, time, server: caller } = site;
      const other = await newSite();
      const { sentThrough } = await createWebhook(site, { types: ['request.refused'] });
      const addRefused = (refusedTime: number, ...codes: ErrorCode[]) =>
        store.addRefused({
          ...{ account, token: caller.token, time: refusedTime, sender: 0, robot: false },
          requests: codes.map((code) => ({ operation: 'logEvent', input: {}, address: null, code, message: 'no' })),
        });
      await addRefused(time, 'unknown_id', 'invalid_field', 'unknown_id');
      await addRefused(time + hour, 'missing_field');
      const notice = { account, from: time, to: time + hour };
      for (const each of [notice, notice, { ...notice, account: other.account }]) await store.noticeRefusals(each);
      await store.noticeRefusals({ account, from: time + 2 * hour, to: time + 3 * hour });
      const [from, to] = [new Date(time).toISOString(), new Date(time + hour).toISOString()];
      const requests = { invalid_field: 1, unknown_id: 2 };
      expect(await factsAfter(site, sentThrough)).toEqual([{ type: 'request.refused', from, to, requests }]);
    });

    test('report storage near the quota once a day for each percentage', async () => {
      const site = await newSite();
      const { store, account, time } = site;
      const { sentThrough } = await createWebhook(site, { types: ['quota.near'] });
      const sizes = { storedBytes: 800, accountBytes: 1_000 };
      const notice = (percent: number, at: number) => store.noticeQuota({ account, percent, ...sizes, time: at });
      await notice(80, time);
      await notice(80, time + day);
      await notice(100, time + day);
      await notice(80, time + day + 1);
      await notice(80, time + 2 * day + 1);
      expect(await factsAfter(site, sentThrough)).toEqual(
        [80, 100, 80].map((percent) => ({ type: 'quota.near', percent, ...sizes })),
      );
    });

    test('are stored only for the types that one of the account’s webhooks subscribes to', async () => {
      const site = await newSite();
      const before = await lastSequence(site);
      const { server: caller } = site;
      await caller.createContact({ userUUID: null, address: ann });
      await createWebhook(site, { types: ['contact.merged'] });
      await caller.createContact({ userUUID: null, address: ben });
      expect(await factsAfter(site, before)).toEqual([]);
    });

    test('are deleted after 30 days', async () => {
      const site = await newSite();
      const { sentThrough } = await createWebhook(site);
      await site.server.createContact({ userUUID: null, address: ann });
      const expire = (time: number) => site.store.deleteExpired({ time, after: 0, limit: 1_000 });
      await expire(site.time + 30 * 86_400_000);
      expect(await factsAfter(site, sentThrough)).toHaveLength(1);
      await expire(site.time + 30 * 86_400_000 + 1);
      expect(await factsAfter(site, sentThrough)).toEqual([]);
    });
  });
};
