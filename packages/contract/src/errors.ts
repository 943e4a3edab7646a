/** All error codes, each with its HTTP status and its cause. The list is closed: clients may switch on it. */
export const errors = {
  missing_field: { status: 400, when: 'a required field is absent or empty' },
  invalid_field: { status: 400, when: 'a field has an invalid value' },
  invalid_encoding: { status: 400, when: 'the body is not valid UTF-8, or does not match its Content-Encoding' },
  invalid_json: { status: 400, when: 'the body is not a JSON object, or is nested too deeply' },
  unknown_field: { status: 400, when: 'a read has a parameter that the operation does not accept' },
  unknown_id: {
    status: 400,
    when: 'the account is strict and does not list this profile, tag, attribute or event, or its catalogue has no room for another event name',
  },
  missing_token: {
    status: 401,
    when: 'the request has no token: send `Authorization: Bearer <token>` or the field `tokenUUID`',
  },
  invalid_token: {
    status: 401,
    when: 'the token is unknown, revoked or expired: `firsthand token list` and the console (Settings › Tokens) list the valid tokens',
  },
  token_kind: { status: 403, when: 'the operation does not accept tokens of this kind' },
  id_not_for_browser: { status: 403, when: 'the catalogue does not allow browser tokens to use this ID' },
  origin_not_allowed: {
    status: 403,
    when: "the page's origin is not in accountOrigin: allow it in the console (Set up › Sites), or with updateAccount",
  },
  server_token_in_browser: {
    status: 403,
    when: 'a web page sent a secret token, which anyone who opens the page can read: revoke the token, and use a browser token in pages',
  },
  unknown_operation: { status: 404, when: 'no operation has this path' },
  unknown_account: { status: 404, when: 'no account has this accountUUID' },
  unknown_contact: {
    status: 404,
    when: 'no contact in the account has this contactUUID, contactExternalID or e-mail address',
  },
  unknown_user: { status: 404, when: 'no user in the account has this userUUID' },
  unknown_link: { status: 404, when: 'no link in the account has this linkID' },
  unknown_claim: { status: 404, when: 'no claim in the account has this claimID' },
  unknown_token: { status: 404, when: 'no token in the account has this tokenID' },
  unknown_member: { status: 404, when: 'no member of the account has this memberID' },
  unknown_refused: { status: 404, when: 'no refused request in the account has this refusedID' },
  unknown_webhook: { status: 404, when: 'no webhook in the account has this webhookID' },
  unknown_notification: { status: 404, when: 'no notification in the account has this notificationID' },
  unknown_import: { status: 404, when: 'no import in the account has this importID' },
  unknown_entry: { status: 404, when: 'the catalogue has no entry with this ID' },
  unknown_view: { status: 404, when: 'no view in the account has this name' },
  unknown_goal: { status: 404, when: 'no goal in the account has this goalID' },
  unknown_note: { status: 404, when: 'no note in the account has this noteID' },
  unknown_share_link: {
    status: 404,
    when: 'no share link has this shareID or secret: it was revoked, has expired, or never existed',
  },
  unknown_segment: { status: 404, when: 'no segment in the account has this name' },
  method_not_allowed: { status: 405, when: 'the path does not support this method: `Allow` lists the supported ones' },
  email_taken: { status: 409, when: 'the e-mail address belongs to another contact' },
  external_id_taken: {
    status: 409,
    when: 'the contactExternalID belongs to another contact, or the contact with this e-mail address has a different contactExternalID',
  },
  merge_refused: {
    status: 409,
    when: 'the merge would form a cycle or, for catalogue entries, a chain, or exceed the maximum number of merges; or there is no merge to undo',
  },
  id_in_use: {
    status: 409,
    when: 'the profile, tag, attribute or event ID to remove is part of a merge, or is used by a contact or an event and `force` is not set',
  },
  no_mail: {
    status: 409,
    when: 'the server cannot send mails: the operator sets SMTP_URL, MAIL_FROM and CONSOLE_ORIGIN, and restarts it',
  },
  import_undone: { status: 409, when: 'the import was undone, or is being undone: create a new import' },
  erased_contact: { status: 410, when: 'the contact was erased' },
  body_too_large: { status: 413, when: 'the body exceeds its limit after decompression' },
  url_too_long: { status: 414, when: 'the path and query string exceed 8 KiB' },
  unsupported_media_type: {
    status: 415,
    when: 'the body must be JSON, JSON sent as text, or form fields: check Content-Type',
  },
  too_many_requests: { status: 429, when: 'the rate limit is exceeded: try again after `Retry-After` seconds' },
  quota: {
    status: 429,
    when: 'the account has reached its storage quota (ACCOUNT_BYTES): erase contacts, or ask the operator to raise the quota',
  },
  internal: { status: 500, when: 'an internal error, which the service logs under the requestID' },
  report_too_slow: {
    status: 503,
    when: 'the report exceeded its time limit: use a shorter range or a narrower filter',
  },
  no_reports: { status: 503, when: 'reports are temporarily unavailable: try again after `Retry-After` seconds' },
  unavailable: { status: 503, when: 'the store is temporarily unavailable: try again after `Retry-After` seconds' },
} as const satisfies Record<string, { status: number; when: string }>;

export type ErrorCode = keyof typeof errors;

/** The HTTP status of an error code. */
export const statusOf = (code: ErrorCode): (typeof errors)[ErrorCode]['status'] => errors[code].status;
