/** A server with a small shop, for console tests. */
import { createClient } from '@firsthand/client';
import type { RegisterCleanup } from '../../fixtures/command.ts';
import { createAccount, serveHere } from '../../fixtures/serving.ts';

const minute = 60_000;
const hour = 60 * minute;

/** Starts a server and creates an account with a catalogue. */
export const openShop = async (atEnd?: RegisterCleanup, env: Readonly<Record<string, string>> = {}) => {
  const serving = await serveHere(env, {}, atEnd);
  const { serverTokenUUID, browserTokenUUID, accountUUID } = await createAccount(serving.url);
  const api = createClient({ url: serving.url, token: serverTokenUUID });
  await api.updateAccount({
    accountCurrency: 'GBP',
    event: [
      { eventID: 1, eventName: 'Page view' },
      { eventID: 2, eventName: 'Purchased' },
    ],
    attr: [{ attrID: 'amount', attrName: 'Revenue', attrType: 'currency' }],
    tag: [{ tagID: 'vip', tagName: 'Best customers' }],
    profile: [{ profileID: 'customer', profileName: 'Customer' }],
  });
  const { tokenUUID: viewerToken } = await api.createToken({ tokenKind: 'viewer', tokenName: 'console' });
  return {
    url: serving.url,
    api,
    serverToken: serverTokenUUID,
    browserToken: browserTokenUUID,
    viewerToken,
    accountUUID,
  };
};
export type Shop = Awaited<ReturnType<typeof openShop>>;

/** Adds Ann, who has a phone and a laptop and an anonymous history; Ben; and three anonymous visitors. */
export const fillShop = async ({ api }: Shop) => {
  const now = Date.now();
  const look = (userUUID: string, agoMs: number, path: string, more: Record<string, string> = {}) =>
    api.logEvent({
      userUUID,
      eventID: 1,
      eventTime: now - agoMs,
      eventAttrArray: Object.entries({ path, ...more }).map(([attrID, attrValue]) => ({ attrID, attrValue })),
    });
  for (const [nth, userUUID] of ['visitor-number-1', 'visitor-number-2', 'visitor-number-3'].entries())
    await look(userUUID, nth * hour + minute, '/pricing', { referrer: 'https://news.example/a' });
  await look('ann-with-a-laptop', 30 * hour, '/');
  await look('ann-with-a-laptop', 30 * hour - 5 * minute, '/teapots', { utm_campaign: 'autumn' });
  const ann = await api.createContact({
    userUUID: 'ann-with-a-laptop',
    contactEmailaddress: 'ann@shop.example',
    contactFirstname: 'Ann',
    contactLastname: 'Lemon',
    contactTagID: 'vip',
    contactProfileID: 'customer',
  });
  await look('ann-with-a-laptop', 2 * hour, '/checkout');
  await api.logEvent({
    userUUID: 'ann-with-a-laptop',
    eventID: 2,
    eventTime: now - 2 * hour + minute,
    eventAttrArray: [{ attrID: 'amount', attrValue: '48.5' }],
  });
  await look('the-phone-of-ben', 3 * hour, '/cups');
  await api.linkUser({ userUUID: 'the-phone-of-ben', contactUUID: ann.contactUUID });
  const ben = await api.createContact({
    userUUID: 'the-laptop-of-ben',
    contactEmailaddress: 'ben@shop.example',
    contactFirstname: 'Ben',
    contactProfileID: 'customer',
  });
  await look('the-laptop-of-ben', hour, '/');
  return { ann: ann.contactUUID, ben: ben.contactUUID };
};
