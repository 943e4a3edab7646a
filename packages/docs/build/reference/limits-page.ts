/** The page of the limits. */
import { limits } from '@firsthand/contract/limits';
import { html } from 'hono/html';
import type { Page } from '../page.ts';

type Limit = keyof typeof limits;

/** What each limit bounds, in groups. The compiler complains about one that is missing. */
const groups = {
  Requests: {
    bodyBytes: 'Bytes of a request body, after decompression',
    batchBodyBytes:
      'Bytes of a body of logEvents, createContacts, createAccount and updateAccount, after decompression',
    urlBytes: 'Bytes of path and query string together',
    eventsPerBatch: 'Events in one logEvents',
    contactsPerBatch: 'Contacts in one createContacts',
    contactsPerAccountBody: 'Contacts in one createAccount or updateAccount',
    streamsPerAccount: 'Open streamEvents of one account on one server',
    csvPerAccount: 'CSV files that one account reads at the same time from one server',
    repeatDays: 'Days for which a repeated eventUUID or requestUUID is recognized',
    proofMinutes: 'Minutes for which a contactProof is valid',
    handoverSeconds: 'Seconds for which a handover is valid',
    hostsPerHandover: 'Hosts in one createHandover',
  },
  Events: {
    attributesPerEvent: 'Attributes of an event',
    eventIDMax: 'The greatest eventID',
    eventAgeDays: 'An event from a browser token that is older than these days gets its arrival time as its eventTime',
    eventAheadMinutes:
      'An event from a browser token that is these minutes ahead of the clock gets its arrival time as its eventTime',
  },
  Contacts: {
    tagsPerContact: 'Tags in one request',
    attributesPerClaim: 'Attributes of one claim; further ones are dropped',
    tagsPerClaim: 'Tags of one claim; further ones are dropped',
    openClaimsPerContact: 'Claims that fill the empty fields of a contact',
    claimsPerContact: 'Claims on one contact by one key that are not accepted; beyond this the oldest are deleted',
    claimedLinksPerUser: 'Links of a user that only claims made; beyond this the oldest are deleted',
    claimedLinksPerContact: 'Links of a contact that only claims by one key made; beyond this the oldest are deleted',
  },
  Lengths: {
    attrIDLength: 'Characters of an attrID',
    attrValueLength: 'Characters of an attrValue',
    nameLength: 'Characters of a name',
    externalIDLength: 'Characters of a contactExternalID',
    emailLength: 'Characters of an e-mail address',
  },
  Pages: {
    eventsPerPage: 'Events on one page of getEvent',
    contactsPerPage: 'Contacts on one page of searchContact',
    contactsCountedByText: 'Contacts that one searchContact with text counts for include=count',
    claimsPerPage: 'Claims on one page of getContact and exportContact',
    linksPerPage: 'Links on one page of getContact and exportContact',
    mergesPerContact: 'Merged contacts in getContact: the newest',
    auditEntriesPerPage: 'Entries on one page of listAudit',
    bucketsPerCount: 'Intervals in one countEvents',
    eventsWithoutRobots: 'Events in the range of a countEvents with robots=exclude',
  },
  Reports: {
    intervalsPerReport: 'Intervals in one reportTotals',
    periodsPerRetention: 'Periods in one reportRetention',
    rowsPerBreakdown: 'Rows in one reportBreakdown',
    rowsPerCSVBreakdown: 'Rows in the CSV file of one reportBreakdown',
    rowsOverTime: 'Rows in one reportBreakdown with `interval`, or reportRetention with `by`',
    didsPerFilter: '`did` conditions in one filter',
    conditionsOnPeople: '`contact`, `did` and `personFirst` conditions in one report',
    didTimes: '`atLeast` and `atMost` of a `did`',
    didDays: '`withinDays` of a `did`',
    contactsPerFilter: 'Contacts that the conditions on contacts in one report find together',
    peoplePerPage: 'People on one page of reportPeople',
    rowsPerLiveList: 'Rows of each list in one reportLive',
    stepsPerFunnel: 'Steps in one reportFunnel',
    funnelDays: 'Days from the first step of a reportFunnel to the last',
    filterDepth: 'Levels of a filter',
    conditionsPerFilter: 'Conditions in a filter',
    valuesPerCondition: 'Values in one condition of a filter',
    viewQueryLength: 'Characters of the query of a view',
    reportsPerShareLink: 'Reports of a share link',
    rowsPerSharedBreakdown: 'Rows in a breakdown of a share link',
    shareLinkBytes: 'Bytes of the reports of a share link as JSON, with the filters of its segments',
    segmentBytes: 'Bytes of the filter of a segment as JSON; also of all segments in one filter together',
  },
  Account: {
    idsPerCatalogue: 'Listed IDs in each catalogue',
    mergesPerCatalogue: 'Entries of each catalogue that are merged into others',
    eventNamesByBrowsers: 'Listed event names that only browser tokens have used',
    originsPerAccount: 'Origins in accountOrigin',
    segmentsPerAccount: 'Segments',
    viewsPerAccount: 'Saved views of the console',
    shareLinksPerAccount: 'Share links that have not ended',
    shareLinkDays: 'Days for which a share link is valid, at most',
    shareLinkDefaultDays: 'Days for which a share link is valid, unless its request says otherwise',
    membersPerAccount: 'Members of the console, those who are only invited included',
    passkeysPerMember: 'Passkeys of a member',
    invitationDays: 'Days for which an invitation is valid',
    refusedPerPage: 'Refused requests on one page of listRefused',
    refusedPerToken: 'Refused requests that are stored for one token',
    refusedBytesPerToken: 'Bytes of the refused requests that are stored for one token',
    refusedTextLength: 'Characters of a refused request that could not be parsed; the rest is cut off',
  },
} as const;

type Listed = { [Group in keyof typeof groups]: keyof (typeof groups)[Group] }[keyof typeof groups];
/** Every limit is in a group, and no other name is. */
const all: [Limit] extends [Listed]
  ? [Listed] extends [Limit]
    ? Readonly<Record<string, Readonly<Partial<Record<Limit, string>>>>>
    : never
  : never = groups;

const number = new Intl.NumberFormat('en');

export const limitsPage = (): Page => {
  const text = 'What a request, a page and an account may hold. Lengths are in UTF-16 code units.';
  return {
    path: 'reference/limits',
    title: 'Limits',
    description: text,
    form: 'text',
    headings: Object.keys(all).map((title) => ({ anchor: title.toLowerCase(), title })),
    content: html`<h1>Limits</h1>
<p class="lead">${text} <a href="getAccount"><code>getAccount</code></a> returns them all in <code>limits</code>. Rate limits and the quota of an account are settings of <a href="../settings#settings">the service</a>.</p>
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
    html`<tr id="${name}"><td>${meaning}</td><td class="number">${number.format(limits[name as Limit])}</td><td><code>${name}</code></td></tr>\n`,
)}</tbody>
</table></div>
`,
)}`,
    sections: [
      { anchor: '', title: 'Limits', text },
      ...Object.values(all).flatMap((entries) =>
        Object.entries(entries).map(([name, meaning]) => ({ anchor: name, title: name, text: meaning })),
      ),
    ],
  };
};
