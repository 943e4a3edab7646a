/** Random account histories for the console tests: as plain data, and replayed through the API. */
import { createClient, FirsthandError } from '@firsthand/client';
import fc from 'fast-check';
import { createAccount } from '../../fixtures/serving.ts';
import { hostileStrings, truncate } from './hostile-strings.ts';

const minuteMs = 60_000;

/** Users are numbered from 0 to 4, contacts from 0 to 3, events from 1 to 4. */
type Action =
  | {
      readonly do: 'log';
      /** Null for a contact's event that was logged without a browser. */
      readonly user: number | null;
      readonly contact: number | null;
      readonly event: number;
      readonly agoMinutes: number;
      readonly attributes: readonly (readonly [attrID: string, value: string])[];
    }
  /** A page logs an event, which gets the browser's labels. */
  | { readonly do: 'visit'; readonly user: number; readonly agent: number; readonly path: string }
  | { readonly do: 'link' | 'claim'; readonly user: number; readonly contact: number }
  | { readonly do: 'unlink'; readonly user: number }
  | { readonly do: 'void' | 'restore'; readonly contact: number; readonly nth: number }
  | { readonly do: 'accept' | 'void a claim'; readonly contact: number; readonly nth: number }
  | { readonly do: 'mark'; readonly contact: number; readonly tag: number; readonly profile: number | null }
  | { readonly do: 'merge'; readonly contact: number; readonly other: number }
  | { readonly do: 'unmerge' | 'erase'; readonly contact: number };

export interface History {
  readonly zone: string;
  readonly actions: readonly Action[];
  /** The names of events, tags, profiles and contacts. */
  readonly names: readonly string[];
  readonly hasRevenue: boolean;
  /** The currency; '' if none is set. */
  readonly currency: string;
  readonly segments: number;
}

const user = fc.nat({ max: 4 });
const contact = fc.nat({ max: 3 });
const nth = fc.nat({ max: 3 });
const hostile = fc.constantFrom(...hostileStrings);
const anyAction = <Name extends string>(...names: readonly Name[]) => fc.constantFrom(...names);

const path = fc.oneof(fc.constantFrom('/', '/pricing', '/teapots?color=red', '/a/b#c', ''), hostile);
const attribute = fc.oneof(
  fc.tuple(fc.constant('path'), path),
  fc.tuple(
    fc.constant('referrer'),
    fc.oneof(
      fc.constantFrom('https://news.example/a', 'http://blog.example:8080/', 'android-app://x', 'nowhere'),
      hostile,
    ),
  ),
  fc.tuple(fc.constantFrom('utm_campaign', 'utm_source', 'utm_medium', 'title', 'plan'), hostile),
  fc.tuple(fc.constant('amount'), fc.constantFrom('48.5', '0', '-3', '1e3', '12345.678', '1,5', 'x', '999999')),
  fc.tuple(fc.constant('robot'), fc.constantFrom('true', 'false', 'false')),
);
/** Event ages: under a minute, within a session, hours, days, and older than most ranges. */
const agoMinutes = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(0, 1) },
  { weight: 3, arbitrary: fc.integer({ min: 20, max: 200 }) },
  { weight: 4, arbitrary: fc.integer({ min: 200, max: 12 * 1_440 }) },
  { weight: 1, arbitrary: fc.integer({ min: 12 * 1_440, max: 75 * 1_440 }) },
);
const log = fc
  .record({
    do: anyAction('log'),
    user: fc.option(user, { freq: 8 }),
    contact: fc.option(contact, { freq: 4 }).map((one) => (one === null ? null : one)),
    event: fc.integer({ min: 1, max: 4 }),
    agoMinutes,
    attributes: fc.uniqueArray(attribute, { maxLength: 4, selector: ([attrID]) => attrID }),
  })
  .map((entry) => ({ ...entry, user: entry.user ?? (entry.contact === null ? 0 : null) }));

const actionArbitrary: fc.Arbitrary<Action> = fc.oneof(
  { weight: 14, arbitrary: log },
  { weight: 3, arbitrary: fc.record({ do: anyAction('visit'), user, agent: fc.nat({ max: 2 }), path }) },
  { weight: 4, arbitrary: fc.record({ do: anyAction('link', 'link', 'claim'), user, contact }) },
  { weight: 1, arbitrary: fc.record({ do: anyAction('unlink'), user }) },
  { weight: 2, arbitrary: fc.record({ do: anyAction('void', 'void', 'restore'), contact, nth }) },
  { weight: 1, arbitrary: fc.record({ do: anyAction('accept', 'void a claim'), contact, nth }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: anyAction('mark'),
      contact,
      tag: fc.nat({ max: 1 }),
      profile: fc.option(fc.nat({ max: 1 })),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: anyAction('merge'), contact, other: contact }) },
  { weight: 1, arbitrary: fc.record({ do: anyAction('unmerge', 'unmerge', 'erase'), contact }) },
);

export const historyArbitrary: fc.Arbitrary<History> = fc.record({
  zone: fc.constantFrom('UTC', 'Pacific/Kiritimati', 'America/New_York', 'Asia/Kathmandu'),
  actions: fc.array(actionArbitrary, { minLength: 10, maxLength: 60, size: 'max' }),
  names: fc.uniqueArray(hostile, { minLength: 12, maxLength: 12 }),
  hasRevenue: fc.boolean(),
  currency: fc.constantFrom('', 'EUR', 'JPY', 'USD'),
  segments: fc.nat({ max: 3 }),
});

const agents = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0',
];

const userUUIDOf = (number: number): string => `visitor-of-the-test-${number}`;

/** Ignores rejected requests: they change nothing, so the history is just a different one. */
const ignoreRejection = async (work: Promise<unknown>): Promise<void> => {
  await work.catch((error) => {
    if (!(error instanceof FirsthandError) || error.status >= 500) throw error;
  });
};

/** Creates an account with a history on the server at `url`. */
export const replayHistory = async (url: string, { zone, actions, names, hasRevenue, currency, segments }: History) => {
  const tokens = await createAccount(url);
  const api = createClient({ url, token: tokens.serverTokenUUID });
  const pageOf = (agent: number) =>
    createClient({
      url,
      token: tokens.browserTokenUUID,
      fetch: (input, init) => {
        const request = new Request(input, init);
        request.headers.set('User-Agent', agents[agent] ?? '');
        return fetch(request);
      },
    });
  const nameAt = (nth: number) => truncate(names[nth] ?? '', 255);
  await api.updateAccount({
    accountTimezone: zone,
    accountCurrency: currency,
    accountName: nameAt(0),
    event: [1, 2, 3, 4].map((eventID) => ({ eventID, eventName: eventID === 4 ? 'Page view' : nameAt(eventID) })),
    attr: [
      { attrID: 'plan', attrName: nameAt(5), browser: true },
      ...(hasRevenue ? [{ attrID: 'amount', attrName: 'Revenue', attrType: 'currency' as const }] : []),
    ],
    tag: [0, 1].map((tag) => ({ tagID: `tag-${tag}`, tagName: nameAt(6 + tag) })),
    profile: [0, 1].map((profile) => ({ profileID: `profile-${profile}`, profileName: nameAt(8 + profile) })),
  });
  const contacts: string[] = [];
  for (const nth of [0, 1, 2, 3]) {
    const { contactUUID } = await api.createContact({
      contactExternalID: `customer-${nth}`,
      contactProfileID: 'profile-0',
      ...(nth > 0 && { contactFirstname: nameAt(8 + nth), contactEmailaddress: `customer-${nth}@shop.example` }),
    });
    contacts.push(contactUUID);
  }
  const contactOf = (number: number) => contacts[number] ?? '';
  const detailOf = (number: number) => api.getContact({ contactUUID: contactOf(number), include: 'claim,link' });
  const perform = async (one: Action): Promise<unknown> => {
    switch (one.do) {
      case 'log':
        return api.logEvent({
          userUUID: one.user === null ? undefined : userUUIDOf(one.user),
          contactUUID: one.contact === null ? undefined : contactOf(one.contact),
          eventID: one.event,
          eventTime: Date.now() - one.agoMinutes * minuteMs,
          eventAttrArray: one.attributes.map(([attrID, attrValue]) => ({ attrID, attrValue })),
        });
      case 'visit':
        return pageOf(one.agent).logEvent({
          userUUID: userUUIDOf(one.user),
          eventName: 'Page view',
          eventAttrArray: [{ attrID: 'path', attrValue: one.path }],
        });
      case 'link':
        return api.linkUser({ userUUID: userUUIDOf(one.user), contactUUID: contactOf(one.contact) });
      case 'claim':
        return pageOf(0).createContact({
          userUUID: userUUIDOf(one.user),
          contactEmailaddress: `customer-${one.contact}@shop.example`,
          contactProfileID: 'profile-1',
        });
      case 'unlink':
        return api.unlinkUser({ userUUID: userUUIDOf(one.user) });
      case 'void':
      case 'restore': {
        const { link = [] } = await detailOf(one.contact);
        const { linkID } = link[one.nth % link.length] ?? {};
        return linkID && api.voidLink({ linkID, restore: one.do === 'restore' });
      }
      case 'accept':
      case 'void a claim': {
        const { claim = [] } = await detailOf(one.contact);
        const { claimID } = claim[one.nth % claim.length] ?? {};
        return claimID && (one.do === 'accept' ? api.acceptClaim({ claimID }) : api.voidClaim({ claimID }));
      }
      case 'mark':
        return api.updateContact({
          contactUUID: contactOf(one.contact),
          contactTagID: `tag-${one.tag}`,
          contactProfileID: one.profile === null ? null : `profile-${one.profile}`,
        });
      case 'merge':
        return api.mergeContact({ contactUUID: contactOf(one.contact), otherContactUUID: contactOf(one.other) });
      case 'unmerge':
        return api.unmergeContact({ otherContactUUID: contactOf(one.contact) });
      case 'erase':
        return api.eraseContact({ contactUUID: contactOf(one.contact) });
    }
  };
  for (const one of actions) await ignoreRejection(perform(one));
  for (let nth = 0; nth < segments; nth += 1)
    await api.createSegment({ segmentName: nameAt(nth), filter: { contact: { contactTagID: `tag-${nth % 2}` } } });
  const { tokenUUID: viewerToken } = await api.createToken({ tokenKind: 'viewer', tokenName: nameAt(4) });
  return {
    url,
    api,
    contacts,
    users: [0, 1, 2, 3, 4].map(userUUIDOf),
    serverToken: tokens.serverTokenUUID,
    viewerToken,
  };
};
export type Site = Awaited<ReturnType<typeof replayHistory>>;
