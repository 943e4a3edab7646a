/** What the service accepts at most. Lengths are UTF-16 code units unless the name says bytes. Shown by getAccount. */
export const limits = {
  /** A request body, unpacked. */
  bodyBytes: 64 * 1024,
  /** A logEvents body, unpacked. */
  batchBodyBytes: 1024 * 1024,
  /** Path and query string together. */
  urlBytes: 8 * 1024,
  /** Events in one logEvents. */
  eventsPerBatch: 1_000,
  /** Events on one page of getEvent. */
  eventsPerPage: 1_000,
  /** Buckets in one countEvents. */
  bucketsPerCount: 1_000,
  /** Events among which countEvents leaves robots' out: it reads them one by one. */
  eventsWithoutRobots: 500_000,
  /** streamEvents that an account may have open at once, on one server. */
  streamsPerAccount: 100,
  /** Contacts on one page of searchContact. */
  contactsPerPage: 1_000,
  /** Entries on one page of listAudit. */
  auditEntriesPerPage: 1_000,
  /** Contacts along with createAccount or updateAccount. */
  contactsPerAccountBody: 100,
  attributesPerEvent: 100,
  /** Tags in one request. */
  tagsPerContact: 100,
  /** Attributes and tags that a browser may say of a contact, all its requests together; more are not added. */
  attributesPerClaim: 100,
  tagsPerClaim: 100,
  /** Claims that fill a contact's empty fields; further ones wait until some are voided. */
  openClaimsPerContact: 25,
  /** Claims for one contact that nobody has accepted; beyond this the oldest give way, with the links that they made. */
  claimsPerContact: 1_000,
  /** Claims and links on one page of getContact or exportContact; a page of claims is also at most about a MiB. */
  claimsPerPage: 100,
  linksPerPage: 1_000,
  /** Links that only claims made, and nobody has accepted or verified, of one user and of one contact; beyond this the oldest give way. */
  claimedLinksPerUser: 100,
  claimedLinksPerContact: 1_000,
  /** Listed IDs in each catalogue of an account. */
  idsPerCatalogue: 1_000,
  originsPerAccount: 100,
  attrIDLength: 64,
  attrValueLength: 2_048,
  nameLength: 255,
  emailLength: 254,
  /** The greatest eventID, 2^31 − 1. */
  eventIDMax: 2_147_483_647,
  /** A browser token's event older than this is given the time of its arrival. */
  eventAgeDays: 7,
  /** A browser token's event further ahead than this is given the time of its arrival. */
  eventAheadMinutes: 5,
  /** A repeat of an eventUUID or requestUUID is known for this long after the first. */
  repeatDays: 7,
  /** Refused requests that are kept for a token, and how much of them; beyond either the oldest give way. */
  refusedPerToken: 1_000,
  refusedBytesPerToken: 2 * 1024 * 1024,
  /** Of a refused request that could not be read as fields, so much of its text. */
  refusedTextLength: 64 * 1024,
  /** A contactProof is valid for this long. */
  proofMinutes: 10,
} as const;
