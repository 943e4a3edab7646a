/** Creates an account with each hostile string in every field that the console shows. */
import { createHash } from 'node:crypto';
import type { RequestFor } from '@firsthand/client';
import { createClient } from '@firsthand/client';
import { hostileStrings, truncate } from './hostile-strings.ts';
import type { Shop } from './shop.ts';

/** The number of strings per day: few enough that a breakdown of one day lists all its values. */
export const stringsPerDay = 29;
const dayMs = 86_400_000;
const maxSegments = 100;
const maxWebhooks = 50;
/** The number of strings that each claim has as attributes. */
const stringsPerClaim = 50;

/** Converts a string to a valid and unique ID for the catalogue. */
const toID = (text: string, nth: number): string =>
  `${truncate(text.replaceAll(',', ';').trim().replace(/^-+/, ''), 58).trimEnd()}#${nth}`;
/** Converts a string to a valid external ID: no control characters, and no unfilled template placeholders. */
const toExternalID = (text: string, nth: number): string => {
  const legal = text.replaceAll(/\p{Cc}/gu, '.').replaceAll(/([{[<%#$])(?=[{[%=])/g, '$1 ');
  return `${truncate(legal, 250)}#${nth}`;
};
/** Converts a string to an e-mail address: drops characters that the local part can't have. */
const toAddress = (text: string, nth: number): string => {
  const legal = text.replaceAll(/[\p{Z}\p{C}<>()[\],;:\\"@.]/gu, '');
  return `${[...legal].slice(0, 14).join('')}_${nth}@shop.example`;
};

/** Runs a task for each element, eight concurrently. */
const forEach = async <Element>(
  list: readonly Element[],
  work: (one: Element, nth: number) => Promise<unknown>,
): Promise<void> => {
  const waiting = [...list.entries()];
  const workers = Array.from({ length: 8 }, async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await work(next[1], next[0]);
  });
  await Promise.all(workers);
};

export const fillWithHostileStrings = async ({ url, api, browserToken }: Shop) => {
  const texts = hostileStrings.map((text, nth) => ({ text, nth, id: toID(text, nth), name: truncate(text, 255) }));
  await api.updateAccount({
    accountName: truncate(hostileStrings[0] ?? '', 255),
    event: texts.map(({ nth, name }) => ({ eventID: 10 + nth, eventName: name })),
  });
  await api.updateAccount({ attr: texts.map(({ id, name }) => ({ attrID: id, attrName: name })) });
  await api.updateAccount({ tag: texts.map(({ id, name }) => ({ tagID: id, tagName: name })) });
  await api.updateAccount({ profile: texts.map(({ id, name }) => ({ profileID: id, profileName: name })) });

  const contactOf = ({
    text,
    nth,
    id,
    name,
  }: (typeof texts)[number]): RequestFor<'createContacts'>['contact'][number] => ({
    contactExternalID: toExternalID(text, nth),
    contactEmailaddress: toAddress(text, nth),
    contactFirstname: name,
    contactLastname: name,
    contactTitle: name,
    contactTelephone: name,
    contactMobile: name,
    contactJobRole: name,
    contactProfileID: id,
    contactTagID: id,
    contactAttr: [{ attrID: id, attrValue: text }],
  });
  const contacts: string[] = [];
  for (let first = 0; first < texts.length; first += 250) {
    const { contact } = await api.createContacts({ contact: texts.slice(first, first + 250).map(contactOf) });
    for (const { contactUUID, error } of contact) {
      if (contactUUID === undefined) throw new Error(`${error?.field}: ${error?.message}`);
      contacts.push(contactUUID);
    }
  }

  const now = Date.now();
  const attributesOf = ({ text, id }: (typeof texts)[number]) =>
    ['path', 'referrer', 'title', 'utm_source', 'utm_medium', 'utm_campaign', id].map((attrID) => ({
      attrID,
      attrValue: attrID === 'referrer' ? `https://${text}` : text,
    }));
  const eventOf = (one: (typeof texts)[number], agoMs: number) => ({
    userUUID: `hostile-visitor-${one.nth}`,
    eventID: 10 + one.nth,
    eventTime: now - agoMs,
    eventAttrArray: attributesOf(one),
  });
  const dayOf = (nth: number) => Math.floor(nth / stringsPerDay);
  for (let first = 0; first < texts.length; first += 250) {
    const some = texts.slice(first, first + 250);
    const { event } = await api.logEvents({
      event: some.map((one) => ({ ...eventOf(one, dayOf(one.nth) * dayMs), contactUUID: contacts[one.nth] })),
    });
    // Also logs all strings for one contact and for anonymous browsers, with the current time.
    const collected = await api.logEvents({
      event: some.map((one) => ({
        ...eventOf(one, 60_000),
        contactUUID: contacts[0],
        userUUID: 'hostile-visitor-of-all',
      })),
    });
    const anonymous = await api.logEvents({
      event: some.map((one) => ({ ...eventOf(one, 0), userUUID: `hostile-nobody-${one.nth}` })),
    });
    for (const { status, error } of [...event, ...collected.event, ...anonymous.event])
      if (status !== '200') throw new Error(error?.message);
  }

  const page = createClient({ url, token: browserToken });
  await api.updateAccount({ browserCatalogue: true });
  for (let first = 0; first < texts.length; first += stringsPerClaim) {
    const some = texts.slice(first, first + stringsPerClaim);
    const name = some[0]?.name ?? '';
    await page.createContact({
      userUUID: `hostile-claimant-${first}`,
      contactEmailaddress: toAddress(hostileStrings[0] ?? '', 0),
      contactFirstname: name,
      contactJobRole: name,
      contactProfileID: some[0]?.id ?? '',
      contactAttr: some.map(({ id, text }) => ({ attrID: id, attrValue: text })),
    });
  }
  await forEach(texts, ({ name }) => api.createToken({ tokenKind: 'viewer', tokenName: name }));
  // Removes line breaks, because an import's name must be on one line.
  const names = texts.map(({ name }) => name).filter((name) => !/[\p{Cc}\p{Cf}]/u.test(name) && name.trim() !== '');
  await forEach(names, (importName) => {
    const fingerprint = createHash('sha256').update(importName).digest('hex');
    return api.createImport({ kind: 'events', importName, fingerprint });
  });
  await forEach(texts.slice(0, maxWebhooks), ({ nth, name, id, text }) =>
    api.createWebhook({
      url: `https://crm.invalid/${encodeURIComponent(text.toWellFormed()).slice(0, 1_000)}`,
      ...(names[nth] && { description: names[nth] }),
      type: ['event.logged'],
      ...{ eventName: [name], attrID: id, attrValue: text },
    }),
  );

  /**
   * Replaces all segments with one per string, from `first` on, up to the account's limit. Their filters contain the
   * strings too.
   */
  const replaceSegments = async (first: number): Promise<void> => {
    const { segment } = await api.listSegments({});
    await forEach(segment, ({ segmentName }) => api.deleteSegment({ segmentName }));
    await forEach(texts.slice(first, first + maxSegments), ({ name, nth, id, text }) =>
      api.createSegment({ segmentName: `${truncate(name, 250)}#${nth}`, filter: { attrID: id, is: [text] } }),
    );
  };
  /** Replaces all views in the same way. Their query strings contain the strings too. */
  const replaceViews = async (first: number): Promise<void> => {
    const { view } = await api.listViews({});
    await forEach(view, ({ viewName }) => api.deleteView({ viewName }));
    await forEach(texts.slice(first, first + maxSegments), ({ name, nth, text }) => {
      const viewQuery = new URLSearchParams({ range: text.slice(0, 200).toWellFormed(), tab: 'funnel' }).toString();
      return api.createView({ viewName: `${truncate(name, 250)}#${nth}`, viewPage: 'events', viewQuery });
    });
  };

  const november = { from: '2026-11-01', to: '2026-12-01' };
  /** Replaces all share links with one per string, from `first` on. Returns their secrets. */
  const replaceShareLinks = async (first: number): Promise<readonly string[]> => {
    const { shareLink } = await api.listShareLinks({});
    await forEach(shareLink, ({ shareID }) => api.revokeShareLink({ shareID }));
    const secrets: string[] = [];
    await forEach(texts.slice(first, first + maxSegments), async ({ name, nth, text }) => {
      const shareName = `${truncate(name, 250)}#${nth}`.replaceAll(/[\p{Cc}\p{Cf}]/gu, '');
      const viewQuery = new URLSearchParams({ by: text.slice(0, 100).toWellFormed(), measure: 'users' }).toString();
      const report = [{ part: 'totals', operation: 'reportTotals', request: november }] as const;
      secrets.push((await api.createShareLink({ shareName, viewPage: 'overview', viewQuery, report })).shareSecret);
    });
    return secrets;
  };
  return { contacts, replaceSegments, maxSegments, replaceViews, replaceShareLinks };
};
