/** The page of limits. */
import { limits } from '@firsthand/contract/limits';
import { html } from 'hono/html';
import type { Page } from '../page.ts';
import { prose } from './fields.ts';

type Limit = keyof typeof limits;

/** What each limit applies to, in groups. The type of `all` ensures that no limit is missing. */
const groups = {
  Requests: {
    bodyBytes: 'Bytes in a request body, after decompression',
    batchBodyBytes: 'Bytes in a logEvents, createContacts, createAccount or updateAccount body, after decompression',
    urlBytes: 'Bytes in the path and query string together',
    eventsPerBatch: 'Events in one logEvents request',
    contactsPerBatch: 'Contacts in one createContacts request',
    messagesPerImport: 'Messages in one importEvents request',
    importsPerAccount: 'Imports per account, including undone ones',
    contactsPerAccountBody: 'Contacts in one createAccount or updateAccount request',
    streamsPerAccount: 'Open event streams per account and server',
    csvPerAccount: 'Concurrent CSV downloads per account and server',
    repeatDays: 'Days for which a repeated eventUUID or requestUUID is recognized',
    proofMinutes: 'Minutes for which a contactProof is valid',
    handoverSeconds: 'Seconds for which a handover is valid',
    hostsPerHandover: 'Hosts in one createHandover request',
  },
  Events: {
    attributesPerEvent: 'Attributes per event',
    eventIDMax: 'The maximum eventID',
    eventAgeDays: 'Days after which a browser token’s eventTime is replaced by the arrival time',
    eventAheadMinutes: 'Minutes in the future beyond which a browser token’s eventTime is replaced by the arrival time',
  },
  Contacts: {
    tagsPerContact: 'Tags in one request',
    attributesPerClaim: 'Attributes in one claim; any beyond the limit are dropped',
    tagsPerClaim: 'Tags in one claim; any beyond the limit are dropped',
    openClaimsPerContact: 'Claims that fill a contact’s empty fields',
    claimsPerContact: 'Unaccepted claims on one contact by one key; beyond this, the oldest are deleted',
    claimedLinksPerUser: 'Links per user that come only from claims; beyond this, the oldest are deleted',
    claimedLinksPerContact:
      'Links per contact that come only from claims by one key; beyond this, the oldest are deleted',
  },
  Lengths: {
    attrIDLength: 'Characters in an attrID',
    attrValueLength: 'Characters in an attrValue',
    nameLength: 'Characters in a name',
    externalIDLength: 'Characters in a contactExternalID',
    emailLength: 'Characters in an e-mail address',
  },
  Pages: {
    eventsPerPage: 'Events on one page of getEvent',
    contactsPerPage: 'Contacts on one page of searchContact',
    contactsCountedByText: 'Contacts counted by include=count in a searchContact request with text',
    claimsPerPage: 'Claims on one page of getContact and exportContact',
    linksPerPage: 'Links on one page of getContact and exportContact',
    mergesPerContact: 'Merged contacts that getContact lists (the newest)',
    auditEntriesPerPage: 'Entries on one page of listAudit',
    importsPerPage: 'Imports in one listImports response',
    bucketsPerCount: 'Intervals in one countEvents request',
    eventsWithoutRobots: 'Events in the range of a countEvents request with robots=exclude',
  },
  Reports: {
    intervalsPerReport: 'Intervals in one reportTotals request',
    periodsPerRetention: 'Periods in one reportRetention request',
    rowsPerBreakdown: 'Rows in one reportBreakdown response',
    rowsPerCSVBreakdown: 'Rows in a reportBreakdown CSV file',
    rowsOverTime: 'Rows in one reportBreakdown with `interval`, or reportRetention with `by`',
    didsPerFilter: '`did` conditions in one filter',
    conditionsOnPeople: '`contact`, `did` and `personFirst` conditions in one report',
    didTimes: 'The maximum `atLeast` and `atMost` of a `did`',
    didDays: 'The maximum `withinDays` of a `did`',
    contactsPerFilter: 'Contacts that match one report’s contact conditions, in total',
    peoplePerPage: 'People on one page of reportPeople',
    rowsPerLiveList: 'Rows per list in a reportLive response',
    stepsPerFunnel: 'Steps in one reportFunnel request',
    funnelDays: 'Days between the first and the last step of a reportFunnel',
    filterDepth: 'Nesting levels in a filter',
    conditionsPerFilter: 'Conditions in a filter',
    wildcardsPerPattern: '`*` in a pattern: the path of a goal, or `matches` of a filter',
    valuesPerCondition: 'Values in one filter condition',
    viewQueryLength: 'Characters in a view’s query string',
    reportsPerShareLink: 'Reports per share link',
    rowsPerSharedBreakdown: 'Rows per breakdown in a share link',
    shareLinkBytes: 'Bytes of a share link’s reports as JSON, including the filters of their segments',
    segmentBytes: 'Bytes of a segment’s filter as JSON, and of all segments used in one filter',
  },
  Account: {
    idsPerCatalogue: 'IDs listed in each catalogue',
    mergesPerCatalogue: 'Merged entries in each catalogue',
    eventNamesByBrowsers: 'Listed event names that only browser tokens have used',
    originsPerAccount: 'Origins in accountOrigin',
    segmentsPerAccount: 'Segments',
    viewsPerAccount: 'Saved console views',
    goalsPerAccount: 'Goals',
    notesPerAccount: 'Notes',
    notesPerPage: 'Notes in one listNotes response',
    noteLength: 'Characters of a note',
    shareLinksPerAccount: 'Share links that have not expired',
    shareLinkDays: 'The maximum number of days for which a share link is valid',
    shareLinkDefaultDays: 'Days for which a share link is valid by default',
    notificationsPerAccount: 'Digests and alerts',
    reportsPerNotification: 'Reports in a digest',
    notificationBytes: 'Bytes of JSON of the reports of a digest or alert',
    webhooksPerAccount: 'Webhooks',
    webhookURLLength: 'Characters in a webhook’s URL',
    eventNamesPerWebhook: 'Event names in a webhook’s filter',
    audiencesPerAccount: 'Segments of all webhooks of the account',
    contactsPerAudience: 'Contacts in a segment of a webhook',
    retriesPerWebhook: 'Failed deliveries per webhook that will be retried; beyond this, no new messages are sent',
    failedDeliveriesPerWebhook: 'Listed deliveries per webhook that failed every attempt',
    deliveriesPerPage: 'Messages on one page of listWebhookDeliveries',
    deliveriesPerResend: 'Messages in one resendWebhook request',
    webhookResponseLength: 'Stored characters of a webhook’s response',
    webhookRotationHours: 'Hours for which a webhook’s previous secret stays valid',
    membersPerAccount: 'Console members, including invited ones',
    passkeysPerMember: 'Passkeys per member',
    invitationDays: 'Days for which an invitation is valid',
    refusedPerPage: 'Rejected requests on one page of listRefused',
    refusedPerToken: 'Rejected requests stored per token',
    refusedBytesPerToken: 'Bytes of the rejected requests stored per token',
    refusedTextLength: 'Characters in a rejected request that could not be parsed; longer text is truncated',
  },
} as const;

type GroupedLimit = { [Group in keyof typeof groups]: keyof (typeof groups)[Group] }[keyof typeof groups];
/** A type error if a limit is missing from the groups, or if a group has a different name. */
const all: [Limit] extends [GroupedLimit]
  ? [GroupedLimit] extends [Limit]
    ? Readonly<Record<string, Readonly<Partial<Record<Limit, string>>>>>
    : never
  : never = groups;

const number = new Intl.NumberFormat('en');

export const limitsPage = (): Page => {
  const text = 'The limits of requests, pages and accounts. Lengths are in UTF-16 code units.';
  return {
    path: 'reference/limits',
    title: 'Limits',
    description: text,
    form: 'text',
    headings: Object.keys(all).map((title) => ({ anchor: title.toLowerCase(), title })),
    content: html`<h1>Limits</h1>
<p class="lead">${text} <a href="getAccount"><code>getAccount</code></a> returns all limits in <code>limits</code>. Rate limits and account quotas are <a href="../settings#settings">settings of the service</a>.</p>
${Object.entries(all).map(
  ([
    title,
    entries,
  ]) => html`<h2 id="${title.toLowerCase()}"><a class="anchor" href="#${title.toLowerCase()}">${title}</a></h2>
<div class="table" tabindex="0"><table>
<thead><tr><th>Limit</th><th class="number">Value</th><th>Name</th></tr></thead>
<tbody>
${Object.entries(entries).map(
  ([name, meaning]) =>
    html`<tr id="${name}"><td>${prose(meaning)}</td><td class="number">${number.format(limits[name as Limit])}</td><td><code>${name}</code></td></tr>\n`,
)}</tbody>
</table></div>
`,
)}`,
    sections: [
      { anchor: '', title: 'Limits', text },
      ...Object.values(all).flatMap((entries) =>
        Object.entries(entries).map(([name, meaning]) => ({
          anchor: name,
          title: name,
          text: meaning.replaceAll('`', ''),
        })),
      ),
    ],
  };
};
