/** All error codes, each with its HTTP status and its cause. The list is closed: clients may switch on it. */
export const errors = {
  missing_field: { status: 400, when: 'a required field is absent or empty' },
  invalid_field: { status: 400, when: 'a field has the wrong form' },
  invalid_encoding: { status: 400, when: 'the body is not valid UTF-8, or not what Content-Encoding says' },
  invalid_json: { status: 400, when: 'the body is not a JSON object, or is nested too deeply' },
  unknown_field: { status: 400, when: 'a read was sent a parameter that the operation does not know' },
  unknown_id: {
    status: 400,
    when: 'a strict account does not list this profile, tag, attribute or event; or no more event names can be listed',
  },
  missing_token: {
    status: 401,
    when: 'the request has no token: neither the field `tokenUUID` nor `Authorization: Bearer <token>`',
  },
  invalid_token: {
    status: 401,
    when: 'the token is unknown, revoked or expired: `firsthand token list` and the console (Settings, Tokens) show the valid ones',
  },
  token_kind: { status: 403, when: 'the operation does not take a token of this kind' },
  id_not_for_browser: { status: 403, when: 'the catalogue does not allow this ID for browser tokens' },
  origin_not_allowed: {
    status: 403,
    when: "the page's origin is not in accountOrigin: allow it in the console (Set up, Sites), or with updateAccount",
  },
  server_token_in_browser: {
    status: 403,
    when: 'a secret token came with the Origin of a web page, where it is public: revoke it, and use a browser token there',
  },
  unknown_operation: { status: 404, when: 'no operation has this path' },
  unknown_account: { status: 404, when: 'no account has this accountUUID' },
  unknown_contact: {
    status: 404,
    when: 'no contact of the account has this contactUUID, contactExternalID or e-mail address',
  },
  unknown_user: { status: 404, when: 'no user of the account has this userUUID' },
  unknown_link: { status: 404, when: 'no link of the account has this linkID' },
  unknown_claim: { status: 404, when: 'no claim of the account has this claimID' },
  unknown_token: { status: 404, when: 'no token of the account has this tokenID' },
  unknown_member: { status: 404, when: 'no member of the account has this memberID' },
  unknown_refused: { status: 404, when: 'no refused request with this refusedID is on the list of the account' },
  unknown_entry: { status: 404, when: 'the catalogue lists no entry with this ID' },
  unknown_view: { status: 404, when: 'no view of the account has this name' },
  unknown_share_link: {
    status: 404,
    when: 'no share link has this shareID or secret: it was revoked, has ended, or never was',
  },
  unknown_segment: { status: 404, when: 'no segment of the account has this name' },
  method_not_allowed: { status: 405, when: 'the path does not take this method; `Allow` lists those that it takes' },
  email_taken: { status: 409, when: 'the e-mail address belongs to another contact' },
  external_id_taken: {
    status: 409,
    when: 'the contactExternalID belongs to another contact, or the contact with the e-mail address has another one',
  },
  merge_refused: {
    status: 409,
    when: 'the merge would make a circle or, of catalogue entries, a chain or one merge too many; or there is no merge to undo',
  },
  id_in_use: {
    status: 409,
    when: 'a contact or an event uses the profile, tag, attribute or event ID that is to be removed without `force`, or a merge does',
  },
  erased_contact: { status: 410, when: 'the contact was erased' },
  body_too_large: { status: 413, when: 'the body exceeds its limit after decompression' },
  url_too_long: { status: 414, when: 'path and query string are over 8 KiB' },
  unsupported_media_type: {
    status: 415,
    when: 'the body is neither JSON, text holding JSON, nor form fields: see Content-Type',
  },
  too_many_requests: { status: 429, when: 'the rate limit is exceeded: try again after `Retry-After` seconds' },
  quota: {
    status: 429,
    when: 'the account has reached its storage quota (ACCOUNT_BYTES): erase contacts, or ask the operator for more',
  },
  internal: { status: 500, when: 'a fault of the service; it is logged under the requestID' },
  report_too_slow: {
    status: 503,
    when: 'the report took longer than its time limit: ask about a shorter range, or with a narrower filter',
  },
  no_reports: { status: 503, when: 'reports cannot be answered now: try again after `Retry-After` seconds' },
  unavailable: { status: 503, when: 'the store cannot store it now: try again after `Retry-After` seconds' },
} as const satisfies Record<string, { status: number; when: string }>;

export type ErrorCode = keyof typeof errors;

/** The HTTP status of an error code. */
export const statusOf = (code: ErrorCode): (typeof errors)[ErrorCode]['status'] => errors[code].status;
