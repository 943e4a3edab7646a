/** The pages that links in e-mails open: they unsubscribe a member, or confirm an e-mail address. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LinkPurpose, toLink } from '../../src/http/notifications/links.ts';
import type { Store } from '../../src/store/store.ts';
import { createNotification, createRecipient } from '../fixtures/notifications.ts';
import { openScene, type Scene } from '../fixtures/scene.ts';
import type { Site } from '../fixtures/site.ts';

let scene: Scene;
let store: Store;
let account: number;
beforeAll(async () => {
  scene = await openScene({ basePath: '/s/' });
  ({ store } = scene);
  account = (await store.findAccount(scene.accountUUID)) as number;
});
afterAll(() => scene.close());

const setUp = async (isConfirmed = true) => {
  const site = { store, account, time: Date.now() } as unknown as Site;
  const { memberID } = await createRecipient(site, { isConfirmed });
  const { notificationID } = await createNotification(site, { recipients: [memberID] });
  const link = async (purpose: LinkPurpose) =>
    toLink('/s', await store.getDatabaseKey(), purpose, { notificationID, memberID });
  const recipients = async () => {
    const all = await store.listNotifications({ account, by: null });
    return all.find((each) => each.notificationID === notificationID)?.recipients;
  };
  return { memberID, notificationID, link, recipients };
};

const post = (path: string, body: string, type: string) =>
  scene.send(path, { method: 'POST', body, headers: { 'Content-Type': type } });
const form = 'application/x-www-form-urlencoded';

describe('the unsubscribe link', () => {
  it('changes nothing when opened, because mail scanners open links: its page has a button', async () => {
    const { memberID, link, recipients } = await setUp();
    const path = await link('unsubscribe');
    for (const method of ['GET', 'HEAD']) {
      const { status, headers, body } = await scene.send(path, { method });
      expect(status).toBe(200);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('content-security-policy')).toContain("form-action 'self'");
      if (method === 'GET') expect(body).toContain('<form method="post"><button>Unsubscribe</button></form>');
    }
    expect(await recipients()).toEqual([{ memberID, confirmed: true }]);
  });

  it.each([
    ['the button', '', form],
    ['one click in a mail program', 'List-Unsubscribe=One-Click', form],
    [
      'one click with a multipart body',
      '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n',
      'multipart/form-data; boundary=x',
    ],
  ])('unsubscribes with %s, also a second time', async (_, body, type) => {
    const { link, recipients } = await setUp();
    const path = await link('unsubscribe');
    expect(await post(path, body, type)).toMatchObject({ status: 200 });
    expect(await recipients()).toEqual([]);
    expect(await post(path, body, type)).toMatchObject({ status: 200 });
  });

  it('is refused if it was altered, or was issued for another purpose or member', async () => {
    const [first, second] = [await setUp(), await setUp()];
    const path = await first.link('unsubscribe');
    const forged = [
      path.replace(first.memberID, second.memberID),
      path.replace(first.notificationID, second.notificationID),
      path.slice(0, -1),
      `${path}A`,
      (await first.link('confirm')).replace('confirm', 'unsubscribe'),
    ];
    for (const each of forged) {
      expect(await post(each, '', form)).toMatchObject({ status: 404 });
      expect(await scene.send(each)).toMatchObject({ status: 404 });
    }
    expect(await first.recipients()).toHaveLength(1);
    expect(await second.recipients()).toHaveLength(1);
  });

  it('is no longer valid after the notification was deleted, and is not logged', async () => {
    const { notificationID, link } = await setUp();
    await store.deleteNotification({ account, notificationID, time: Date.now() });
    const path = await link('unsubscribe');
    expect(await post(path, '', form)).toMatchObject({ status: 404 });
    expect(scene.logged()).not.toContain(path.slice(-20));
    expect(scene.logged()).toContain('/console/unsubscribe/…');
  });
});

describe('the confirmation link', () => {
  it('confirms the e-mail address when its button is clicked, not when it is opened', async () => {
    const { memberID, link, recipients } = await setUp(false);
    const path = await link('confirm');
    expect(await scene.send(path)).toMatchObject({ status: 200 });
    expect(await recipients()).toEqual([{ memberID, confirmed: false }]);
    expect(await post(path, '', form)).toMatchObject({ status: 200 });
    expect(await recipients()).toEqual([{ memberID, confirmed: true }]);
  });
});
