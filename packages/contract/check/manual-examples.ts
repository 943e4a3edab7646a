/**
 * The manual's examples, for a client generated from the OpenAPI document by openapi-typescript and openapi-fetch.
 * check.ts writes `openapi.ts` and compiles this file; server/test/openapi-client.test.ts runs it.
 */
import createClient from 'openapi-fetch';
import type { paths } from './openapi.ts';

interface Service {
  readonly url: string;
  readonly fetch: (request: Request) => Promise<Response>;
  readonly tokens: Readonly<Record<'browser' | 'server' | 'operator', string>>;
}

/** Returns the response body; throws if the request was rejected. */
const dataOf = async <Data, Failure>(result: Promise<{ data?: Data; error?: Failure }>): Promise<Data> => {
  const { data, error } = await result;
  if (data === undefined) throw new Error(`request rejected: ${JSON.stringify(error)}`);
  return data;
};

export const runExamples = async ({ url, fetch, tokens }: Service) => {
  const withToken = (token: string) =>
    createClient<paths, 'application/json'>({
      baseUrl: url,
      fetch,
      headers: { Authorization: `Bearer ${token}` },
      // Comma-separated words: `include=claim,link`.
      querySerializer: { array: { style: 'form', explode: false } },
    });
  const page = withToken(tokens.browser);
  const server = withToken(tokens.server);
  const userUUID = 'visitor-of-the-readme';

  await dataOf(
    page.POST('/event/logEvent', {
      body: { eventID: 3, userUUID, eventAttrArray: [{ attrID: 'product', attrValue: 'Stone teapot' }] },
    }),
  );
  await dataOf(page.GET('/logEvent', { params: { query: { eventID: 5, userUUID } } }));
  const { event: results } = await dataOf(
    server.POST('/event/logEvents', {
      body: {
        userUUID,
        event: [
          { eventID: 1, eventUUID: 'page-view-0001' },
          { eventID: 2, eventTime: '2026-11-01T09:30:00Z' },
        ],
      },
    }),
  );
  for (const { status, error } of results) if (status !== '200') throw new Error(error?.message);

  const { event } = await dataOf(
    server.GET('/event/getEvent', { params: { query: { userUUID, include: ['definition', 'why'] } } }),
  );
  const names: string[] = event.map(({ eventName }) => eventName);
  await dataOf(
    server.GET('/event/countEvents', {
      params: { query: { from: '2026-11-01', interval: 'week', include: ['users'] } },
    }),
  );
  const since = Date.now() - 86_400_000;
  await dataOf(server.GET('/event/countEvents', { params: { query: { from: since, interval: 'hour' } } }));

  const november = { from: '2026-11-01', to: '2026-12-01' };
  await dataOf(
    server.GET('/report/reportTotals', { params: { query: { ...november, interval: 'week', compare: 'previous' } } }),
  );
  await dataOf(
    server.GET('/report/reportBreakdown', {
      params: { query: { ...november, by: 'attr:product,weekday', limit: 10 } },
    }),
  );
  // In a query string, a list or an object is JSON text.
  const steps = [{ event: 'Page viewed' }, { and: [{ event: 3 }, { attrID: 'product', is: 'Stone teapot' }] }];
  const { step } = await dataOf(
    server.GET('/report/reportFunnel', { params: { query: { ...november, step: JSON.stringify(steps) } } }),
  );
  const reachedCounts: number[] = step.map((one) => one.reached);
  if (reachedCounts.length !== steps.length) throw new Error('expected one count for each funnel step');
  await dataOf(server.GET('/report/reportRetention', { params: { query: { ...november, interval: 'week' } } }));
  const droppedPeople = { ...november, step: JSON.stringify(steps), dropped: 1 };
  await dataOf(server.GET('/report/reportPeople', { params: { query: droppedPeople } }));
  const segmentName = 'Teapot buyers';
  const segmentRequest = { segmentName, filter: { attrID: 'product', is: 'Stone teapot' } };
  await dataOf(server.POST('/report/createSegment', { body: segmentRequest }));
  const { segment } = await dataOf(server.GET('/report/listSegments'));
  for (const { updatedTime } of segment) new Date(updatedTime);
  const segmentTotals = { ...november, filter: JSON.stringify({ segment: segmentName }) };
  await dataOf(server.GET('/report/reportTotals', { params: { query: segmentTotals } }));
  await dataOf(server.POST('/report/deleteSegment', { body: { segmentName } }));
  const viewName = 'Who signs up';
  await dataOf(server.POST('/report/createView', { body: { viewName, viewPage: 'events', viewQuery: 'tab=funnel' } }));
  const { view } = await dataOf(server.GET('/report/listViews'));
  for (const { updatedTime } of view) new Date(updatedTime);
  await dataOf(server.POST('/report/deleteView', { body: { viewName } }));
  const { shareID } = await dataOf(
    server.POST('/report/createShareLink', {
      body: {
        shareName: 'People by day',
        viewPage: 'overview',
        report: [{ part: 'totals', operation: 'reportTotals', request: { ...november, to: '2026-12-01' } }],
      },
    }),
  );
  const { shareLink } = await dataOf(server.GET('/report/listShareLinks'));
  for (const { expiresTime } of shareLink) new Date(expiresTime);
  await dataOf(server.POST('/report/revokeShareLink', { body: { shareID } }));
  const live = await dataOf(server.GET('/report/reportLive', { params: { query: { limit: 5 } } }));
  if (live.page.row.length > 5) throw new Error('expected at most 5 rows');

  const { contactUUID } = await dataOf(
    server.POST('/contact/createContact', {
      body: {
        userUUID,
        contactEmailaddress: 'ann@shop.example',
        contactFirstname: 'Ann',
        contactProfileID: 'customer',
        contactTagID: 'newsletter',
        contactAttr: [{ attrID: 'birthday', attrValue: '01/02/1990' }],
      },
    }),
  );
  const { contactUUID: claimID } = await dataOf(
    page.POST('/createContact', {
      body: { userUUID: 'another-visitor-here', contactEmailaddress: 'ann@shop.example', contactProfileID: 'customer' },
    }),
  );
  const { contact } = await dataOf(
    server.GET('/contact/getContact', { params: { query: { contactUUID, include: ['claim', 'link'] } } }),
  );
  await dataOf(page.GET('/contact/getContact', { params: { query: { contactUUID: claimID } } }));
  await dataOf(
    server.POST('/contact/updateContact', {
      body: {
        contactUUID,
        contactTelephone: '020 7946 0000',
        contactFirstname: null,
        contactTagID: 'vip,-newsletter',
        contactAttr: [{ attrID: 'birthday', attrValue: null }],
      },
    }),
  );
  await dataOf(server.GET('/contact/searchContact', { params: { query: { contactTagID: 'vip' } } }));
  await dataOf(server.POST('/contact/exportContact', { body: { contactUUID, limit: 2 } }));

  await dataOf(server.POST('/contact/acceptClaim', { body: { claimID } }));
  await dataOf(server.POST('/contact/voidClaim', { body: { claimID } }));
  const third = 'a-third-visitor-here';
  const { linkID } = await dataOf(server.POST('/contact/linkUser', { body: { userUUID: third, contactUUID } }));
  await dataOf(server.POST('/contact/unlinkUser', { body: { userUUID: third } }));
  await dataOf(server.POST('/contact/voidLink', { body: { linkID } }));
  const { contactUUID: otherContactUUID } = await dataOf(
    server.POST('/contact/createContact', {
      body: {
        userUUID: 'a-fourth-visitor-here',
        contactEmailaddress: 'ann@home.example',
        contactProfileID: 'customer',
      },
    }),
  );
  await dataOf(server.POST('/contact/mergeContact', { body: { contactUUID, otherContactUUID } }));
  await dataOf(server.POST('/contact/unmergeContact', { body: { otherContactUUID } }));
  await dataOf(server.POST('/contact/eraseContact', { body: { contactUUID: otherContactUUID } }));

  const { account } = await dataOf(server.GET('/account/getAccount'));
  const spellings = { catalogue: 'tag', otherEntryID: 'VIP' } as const;
  await dataOf(server.POST('/account/updateAccount', { body: { tag: [{ tagID: 'vip' }, { tagID: 'VIP' }] } }));
  await dataOf(server.POST('/account/mergeEntry', { body: { ...spellings, entryID: 'vip' } }));
  await dataOf(server.POST('/account/unmergeEntry', { body: spellings }));
  await dataOf(
    server.POST('/account/updateAccount', {
      body: {
        accountTimezone: 'Europe/London',
        tag: [{ tagID: 'vip', tagName: 'Regular', browser: false }],
        event: [{ eventID: 5, eventName: 'Mail opened' }],
        contact: [{ contactEmailaddress: 'bob@shop.example', contactFirstname: 'Bob' }],
      },
    }),
  );
  const { tokenID } = await dataOf(
    server.POST('/account/createToken', {
      body: { tokenKind: 'viewer', tokenName: 'reports', expiresTime: '2099-01-01' },
    }),
  );
  await dataOf(server.POST('/account/revokeToken', { body: { tokenID, descendants: true } }));
  const { audit } = await dataOf(server.GET('/account/listAudit', { params: { query: { action: 'eraseContact' } } }));
  await dataOf(
    withToken(tokens.operator).POST('/account/createAccount', {
      body: {
        accountName: 'Second shop',
        accountOrigin: ['https://shop.example', 'https://*.shop.example'],
        event: [{ eventID: 1, eventName: 'Page viewed' }],
      },
    }),
  );

  const rejected = await server.POST('/contact/unlinkUser', { body: { userUUID: 'nobody-of-the-readme' } });
  const code = rejected.error?.error.code;
  // @ts-expect-error: unlinkUser never returns this code, and its response type excludes it.
  if (code === 'email_taken') throw new Error('unlinkUser does not take an e-mail address');
  // @ts-expect-error: an eventID is a number.
  await page.POST('/event/logEvent', { body: { eventID: 'three', userUUID } });
  return { names, code, firstname: contact.contactFirstname, timezone: account.accountTimezone, audited: audit.length };
};
