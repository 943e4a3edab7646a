/** The service's limits; getAccount returns them. Lengths are in UTF-16 code units unless the name says bytes. */
export const limits = {
  /** A request body, decompressed. */
  bodyBytes: 64 * 1024,
  /** A body of logEvents, createContacts, createAccount or updateAccount, decompressed. */
  batchBodyBytes: 1024 * 1024,
  /** The length of the path and query string together. */
  urlBytes: 8 * 1024,
  /** Events in one logEvents request. */
  eventsPerBatch: 1_000,
  /** Messages in one importEvents request. */
  messagesPerImport: 1_000,
  /** Imports in one account, and on one page of listImports. */
  importsPerAccount: 10_000,
  importsPerPage: 1_000,
  /** Events on one page of getEvent. */
  eventsPerPage: 1_000,
  /** Intervals in one countEvents request. */
  bucketsPerCount: 1_000,
  /** Events in the range of a countEvents request with `robots=exclude`: such a request reads every event. */
  eventsWithoutRobots: 500_000,
  /** Intervals in one reportTotals request. */
  intervalsPerReport: 1_000,
  /** Periods in one reportRetention request. */
  periodsPerRetention: 100,
  /** Rows in one reportBreakdown response. */
  rowsPerBreakdown: 1_000,
  /** Rows in a reportBreakdown CSV file. */
  rowsPerCSVBreakdown: 100_000,
  /** Rows in a reportBreakdown with `interval`, and in a reportRetention with `by`. */
  rowsOverTime: 20,
  /** `did` conditions in one filter. */
  didsPerFilter: 5,
  /** `contact`, `did` and `personFirst` conditions in all of one report's filters, including their segments. */
  conditionsOnPeople: 20,
  /** The maximum `atLeast` and `atMost` of a `did`. */
  didTimes: 1_000_000,
  /** The maximum `withinDays` of a `did`. */
  didDays: 3_660,
  /**
   * The total number of contacts that the contact conditions of one report may match. With `by=contactTagID`, a contact
   * counts once for each of its tags.
   */
  contactsPerFilter: 1_000_000,
  /** People on one page of reportPeople. */
  peoplePerPage: 1_000,
  /** Rows per list in a reportLive response. */
  rowsPerLiveList: 100,
  /** Steps in one reportFunnel request, and the maximum number of days from the first step to the last. */
  stepsPerFunnel: 8,
  funnelDays: 90,
  /** Levels in a filter, conditions in a filter, and values in a condition. */
  filterDepth: 5,
  conditionsPerFilter: 50,
  valuesPerCondition: 100,
  segmentsPerAccount: 100,
  viewsPerAccount: 100,
  /** The query string of a view. */
  viewQueryLength: 4 * 1024,
  /** Goals of one account. */
  goalsPerAccount: 50,
  /** `*` in a pattern, such as the path of a goal. */
  wildcardsPerPattern: 10,
  /** Notes of one account, in one listNotes response, and the length of their text. */
  notesPerAccount: 10_000,
  notesPerPage: 1_000,
  noteLength: 200,
  /** Share links that have not expired, and the days for which a link is valid: the maximum and the default. */
  shareLinksPerAccount: 100,
  shareLinkDays: 366,
  shareLinkDefaultDays: 30,
  reportsPerShareLink: 12,
  /** Rows in a shared breakdown. */
  rowsPerSharedBreakdown: 100,
  /** The JSON of all of a share link's reports, including the filters of their segments. */
  shareLinkBytes: 64 * 1024,
  /** Webhooks in one account. */
  webhooksPerAccount: 50,
  webhookURLLength: 2_048,
  eventNamesPerWebhook: 100,
  /** Segments of all webhooks of one account, and the contacts in each. */
  audiencesPerAccount: 10,
  contactsPerAudience: 100_000,
  /** Failed deliveries per webhook that will be retried. Beyond this, no new messages are sent. */
  retriesPerWebhook: 1_000,
  /** Listed deliveries per webhook that failed every attempt. Beyond this, the oldest are deleted. */
  failedDeliveriesPerWebhook: 1_000,
  /** Messages on one page of listWebhookDeliveries, and in one resendWebhook request. */
  deliveriesPerPage: 100,
  deliveriesPerResend: 1_000,
  /** Stored characters of a response. */
  webhookResponseLength: 1_000,
  /** How long a webhook's previous secret stays valid after a rotation. */
  webhookRotationHours: 24,
  /** Notifications of one account, reports of one, and the JSON of its reports. */
  notificationsPerAccount: 50,
  reportsPerNotification: 12,
  notificationBytes: 64 * 1024,
  /** Members in an account, including invited ones. */
  membersPerAccount: 200,
  passkeysPerMember: 10,
  /** Days for which an invitation is valid. */
  invitationDays: 7,
  /** The JSON of a segment's filter, and of all segments used in one filter. */
  segmentBytes: 16 * 1024,
  /** Open streamEvents responses per account and server. */
  streamsPerAccount: 100,
  /** Concurrent CSV downloads per account and server. */
  csvPerAccount: 10,
  /** Contacts in one createContacts request. */
  contactsPerBatch: 1_000,
  /** Contacts on one page of searchContact. */
  contactsPerPage: 1_000,
  /** Contacts that searchContact with `text` and `include=count` counts. */
  contactsCountedByText: 10_000,
  /** Entries on one page of listAudit. */
  auditEntriesPerPage: 1_000,
  /** Contacts in one createAccount or updateAccount request. */
  contactsPerAccountBody: 100,
  attributesPerEvent: 100,
  /** Tags in one request. */
  tagsPerContact: 100,
  /** Attributes and tags in one claim, over all requests that add to it. Any beyond the limit are dropped. */
  attributesPerClaim: 100,
  tagsPerClaim: 100,
  /** Claims that fill a contact's empty fields. Further claims are not used until some of these are voided. */
  openClaimsPerContact: 25,
  /** Unaccepted claims on one contact by one key. Beyond this, the oldest are deleted with their links. */
  claimsPerContact: 1_000,
  /** Claims and links on one page of getContact or exportContact. A page of claims is also limited to about 1 MiB. */
  claimsPerPage: 100,
  linksPerPage: 1_000,
  /** Merged contacts listed by getContact: the newest. */
  mergesPerContact: 1_000,
  /**
   * Links from claims that are neither accepted nor verified, per user, and per contact and key. New links replace the
   * oldest.
   */
  claimedLinksPerUser: 100,
  claimedLinksPerContact: 1_000,
  /** IDs listed in each of an account's catalogues. */
  idsPerCatalogue: 1_000,
  /** Merged entries in each catalogue. */
  mergesPerCatalogue: 100,
  /**
   * Event names in the catalogue that only browser tokens have used. The rest of the catalogue is reserved for other
   * tokens.
   */
  eventNamesByBrowsers: 500,
  originsPerAccount: 100,
  attrIDLength: 64,
  attrValueLength: 2_048,
  nameLength: 255,
  emailLength: 254,
  externalIDLength: 255,
  /** The maximum eventID, 2^31 − 1. */
  eventIDMax: 2_147_483_647,
  /** If an event from a browser token is older than this, its eventTime is replaced by its arrival time. */
  eventAgeDays: 7,
  /** If an event from a browser token is further in the future, its eventTime is replaced by its arrival time. */
  eventAheadMinutes: 5,
  /** How long a duplicate eventUUID or requestUUID is recognized. */
  repeatDays: 7,
  /** Stored refused requests per token, and their size. Beyond either limit, the oldest are deleted. */
  refusedPerToken: 1_000,
  /** Requests on one page of listRefused. */
  refusedPerPage: 20,
  refusedBytesPerToken: 2 * 1024 * 1024,
  /** The stored text of a refused request that could not be parsed; longer text is truncated. */
  refusedTextLength: 64 * 1024,
  /** How long a contactProof is valid. */
  proofMinutes: 10,
  /** How long a handover is valid. */
  handoverSeconds: 120,
  /** Hosts in one createHandover request. */
  hostsPerHandover: 20,
} as const;
