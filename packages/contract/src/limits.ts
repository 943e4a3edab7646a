/** Limits of the service; getAccount returns them. Lengths are in UTF-16 code units unless the name says bytes. */
export const limits = {
  /** A request body, decompressed. */
  bodyBytes: 64 * 1024,
  /** A body of logEvents, createContacts, createAccount or updateAccount, decompressed. */
  batchBodyBytes: 1024 * 1024,
  /** Path and query string together. */
  urlBytes: 8 * 1024,
  /** Events in one logEvents. */
  eventsPerBatch: 1_000,
  /** Events on one page of getEvent. */
  eventsPerPage: 1_000,
  /** Buckets in one countEvents. */
  bucketsPerCount: 1_000,
  /** Events in the range of a countEvents with `robots=exclude`, which reads them one by one. */
  eventsWithoutRobots: 500_000,
  /** Intervals in one reportTotals. */
  intervalsPerReport: 1_000,
  /** Periods in one reportRetention. */
  periodsPerRetention: 100,
  /** Rows in one reportBreakdown. */
  rowsPerBreakdown: 1_000,
  /** Rows in the CSV file of one reportBreakdown. */
  rowsPerCSVBreakdown: 100_000,
  /** Rows of a reportBreakdown with `interval`, and of a reportRetention with `by`. */
  rowsOverTime: 20,
  /** `did` conditions in one filter of a report. */
  didsPerFilter: 5,
  /** `contact`, `did` and `personFirst` conditions in all filters of one report, those of its segments included. */
  conditionsOnPeople: 20,
  /** The greatest `atLeast` and `atMost` of a `did`. */
  didTimes: 1_000_000,
  /** The greatest `withinDays` of a `did`. */
  didDays: 3_660,
  /**
   * Contacts that the conditions on contacts in one report may find together. With `by=contactTagID` a contact counts for each of its tags.
   */
  contactsPerFilter: 1_000_000,
  /** People on one page of reportPeople. */
  peoplePerPage: 1_000,
  /** Rows of each list in one reportLive. */
  rowsPerLiveList: 100,
  /** Steps in one reportFunnel, and the days that it may take from the first to the last. */
  stepsPerFunnel: 8,
  funnelDays: 90,
  /** Levels, conditions, and values in one condition, of a filter of reports. */
  filterDepth: 5,
  conditionsPerFilter: 50,
  valuesPerCondition: 100,
  segmentsPerAccount: 100,
  viewsPerAccount: 100,
  /** The query of the address of a view. */
  viewQueryLength: 4 * 1024,
  /** Share links of an account that have not ended, and the days for which one is valid: at most, and if a request does not say. */
  shareLinksPerAccount: 100,
  shareLinkDays: 366,
  shareLinkDefaultDays: 30,
  reportsPerShareLink: 12,
  /** Rows in a breakdown that is shared. */
  rowsPerSharedBreakdown: 100,
  /** The JSON of all reports of a share link, with the filters of its segments. */
  shareLinkBytes: 64 * 1024,
  /** People who may sign in to the console of an account, or are invited. */
  membersPerAccount: 200,
  passkeysPerMember: 10,
  /** Days for which an invitation is valid. */
  invitationDays: 7,
  /** The JSON of the filter of a segment; also of all segments in one filter together. */
  segmentBytes: 16 * 1024,
  /** Open streamEvents of one account on one server. */
  streamsPerAccount: 100,
  /** CSV files that one account reads at the same time from one server. */
  csvPerAccount: 10,
  /** Contacts in one createContacts. */
  contactsPerBatch: 1_000,
  /** Contacts on one page of searchContact. */
  contactsPerPage: 1_000,
  /** Contacts that one searchContact with `text` counts for `include=count`. */
  contactsCountedByText: 10_000,
  /** Entries on one page of listAudit. */
  auditEntriesPerPage: 1_000,
  /** Contacts in one createAccount or updateAccount. */
  contactsPerAccountBody: 100,
  attributesPerEvent: 100,
  /** Tags in one request. */
  tagsPerContact: 100,
  /** Attributes and tags of one claim, over all requests that add to it. Further ones are dropped. */
  attributesPerClaim: 100,
  tagsPerClaim: 100,
  /** Claims that fill a contact's empty fields. Further ones are not used until some of these are voided. */
  openClaimsPerContact: 25,
  /** Claims on one contact by one key that are not accepted. Beyond this the oldest are deleted, with the links that they made. */
  claimsPerContact: 1_000,
  /** Claims and links on one page of getContact or exportContact; a page of claims is also at most about a MiB. */
  claimsPerPage: 100,
  linksPerPage: 1_000,
  /** Merged contacts in getContact: the newest. */
  mergesPerContact: 1_000,
  /** Links that only claims made, neither accepted nor verified: of a user, or of a contact by one key. Further ones replace the oldest. */
  claimedLinksPerUser: 100,
  claimedLinksPerContact: 1_000,
  /** Listed IDs in each catalogue of an account. */
  idsPerCatalogue: 1_000,
  /** Entries of each catalogue that are merged into others. */
  mergesPerCatalogue: 100,
  /** Event names in it that only browser tokens have used. They cannot add more, so that pages leave room for others. */
  eventNamesByBrowsers: 500,
  originsPerAccount: 100,
  attrIDLength: 64,
  attrValueLength: 2_048,
  nameLength: 255,
  emailLength: 254,
  externalIDLength: 255,
  /** The greatest eventID, 2^31 − 1. */
  eventIDMax: 2_147_483_647,
  /** An event from a browser token that is older than this gets its arrival time as its eventTime. */
  eventAgeDays: 7,
  /** An event from a browser token that is further in the future than this gets its arrival time as its eventTime. */
  eventAheadMinutes: 5,
  /** A repeat of an eventUUID or requestUUID is recognized for this long after the first request. */
  repeatDays: 7,
  /** Refused requests that are stored for one token, and their size. Beyond either the oldest are deleted. */
  refusedPerToken: 1_000,
  /** Requests on one page of listRefused. */
  refusedPerPage: 20,
  refusedBytesPerToken: 2 * 1024 * 1024,
  /** The stored text of a refused request that could not be parsed. The rest is cut off. */
  refusedTextLength: 64 * 1024,
  /** A contactProof is valid for this long. */
  proofMinutes: 10,
  /** A handover is valid for this long. */
  handoverSeconds: 120,
  /** Hosts in one createHandover. */
  hostsPerHandover: 20,
} as const;
