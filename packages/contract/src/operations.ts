/** The operations table, from which the router, the OpenAPI document and the typed client are built. */
import type * as z from 'zod';
import * as account from './account/account.ts';
import * as audit from './account/audit.ts';
import * as entries from './account/entries.ts';
import * as members from './account/members.ts';
import * as refused from './account/refused.ts';
import * as service from './account/service.ts';
import type { TokenKind } from './account/tokens.ts';
import * as contact from './contact.ts';
import type { ErrorCode } from './errors.ts';
import * as event from './event.ts';
import * as handover from './handover.ts';
import { pageNames } from './identifiers.ts';
import * as imports from './import.ts';
import { limits } from './limits.ts';
import * as link from './link.ts';
import * as notification from './notification.ts';
import * as goal from './reports/goal.ts';
import * as note from './reports/note.ts';
import * as people from './reports/people.ts';
import * as report from './reports/report.ts';
import * as segment from './reports/segment.ts';
import * as shareLink from './reports/share-link.ts';
import * as view from './reports/view.ts';
import * as webhook from './webhook.ts';

export interface Operation<Input extends z.ZodType = z.ZodType, Output extends z.ZodType = z.ZodType> {
  readonly summary: string;
  /** Details beyond the summary, in full sentences. */
  readonly details?: string;
  /** Fields in the example request, in addition to the required ones. */
  readonly example?: readonly string[];
  /** Error codes in addition to those derived from the rest of the table (document/operation-errors.ts). */
  readonly refuses?: readonly ErrorCode[];
  /** The typed client uses the first method and the first path. */
  readonly methods: readonly ['GET' | 'POST', ...('GET' | 'POST')[]];
  readonly paths: readonly [`/${string}`, ...`/${string}`[]];
  readonly tokens: readonly TokenKind[];
  /** Whether pages on any origin may read the response (CORS). */
  readonly openToPages?: true;
  /** The body size limit: `batch` is limits.batchBodyBytes (1 MiB); the default is limits.bodyBytes (64 KiB). */
  readonly body?: 'batch';
  /** The response is a stream of server-sent events, each with one `output` as its data. */
  readonly stream?: true;
  /** The response may take 10 seconds, or longer while queued: the typed client uses a longer timeout. */
  readonly slow?: true;
  /**
   * For `Accept: text/csv` or `application/x-ndjson`: the list in the response whose entries become rows. The server
   * reads all rows, `limit` at a time.
   */
  readonly csv?: { readonly list: string; readonly limit: number };
  /** The request's fields, without tokenUUID. */
  readonly input: Input;
  /** Lists in the input whose entries are checked one by one, so that an invalid entry does not fail the others. */
  readonly entries?: Readonly<Record<string, z.ZodType>>;
  readonly output: Output;
}

const operation = <Input extends z.ZodType, Output extends z.ZodType>(definition: Operation<Input, Output>) =>
  definition;
type WithoutMethods<Input extends z.ZodType, Output extends z.ZodType> = Omit<Operation<Input, Output>, 'methods'>;
const get = <Input extends z.ZodType, Output extends z.ZodType>(definition: WithoutMethods<Input, Output>) =>
  operation({ ...definition, methods: ['GET'] });
const post = <Input extends z.ZodType, Output extends z.ZodType>(definition: WithoutMethods<Input, Output>) =>
  operation({ ...definition, methods: ['POST'] });

const server = ['server'] as const;
const owners = ['server', 'operator'] as const;
const pageAndServer = ['browser', 'server'] as const;
/** The secret token kinds: each may read the account's data. */
const readers = ['viewer', 'editor', 'server'] as const;
/** The token kinds that may change contacts, catalogues, segments, views, goals and notes, and share reports. */
const editors = ['editor', 'server'] as const;
/** The error codes that every report may return. */
const reportCodes = ['unknown_segment', 'report_too_slow', 'no_reports'] as const;
/** The error codes of reports that take a goal. */
const goalReportCodes = [...reportCodes, 'unknown_goal'] as const;
const accountEntries = { contact: contact.accountContact };

export const operations = {
  getAccount: get({
    summary: 'Retrieve the account: its catalogues, usage, limits and, with a server or operator token, tokens.',
    paths: ['/account/getAccount'],
    tokens: [...readers, 'operator'],
    input: account.getAccountInput,
    output: account.getAccountOutput,
  }),
  createAccount: post({
    summary: 'Create an account, with catalogues and contacts.',
    details: "The response contains the account's tokens. Only this call returns the server token.",
    paths: ['/account/createAccount'],
    tokens: ['operator'],
    body: 'batch',
    example: ['accountOrigin', 'event'],
    input: account.createAccountInput,
    entries: accountEntries,
    output: account.createAccountOutput,
  }),
  updateAccount: post({
    summary: 'Update an account’s fields; add or change catalogue entries and contacts.',
    details:
      'Fields and catalogue entries that are not in the request do not change. Contacts are never removed. An editor token may change only catalogues and contacts. A removal with `force` updates contacts one by one: if the response is lost, repeat the request.',
    paths: ['/account/updateAccount'],
    tokens: ['editor', ...owners],
    body: 'batch',
    example: ['accountTimezone', 'tag', 'contact'],
    refuses: ['id_in_use'],
    input: account.updateAccountInput,
    entries: accountEntries,
    output: account.updateAccountOutput,
  }),
  mergeEntry: post({
    summary: 'Merge one catalogue entry into another.',
    details:
      'Afterwards, every read except exportContact treats both as the first entry: data stored or sent under the other ID is returned, filtered and counted under the first ID. No event is rewritten. If an event or a contact has both attributes, the first attribute’s value applies. Contact values that are later written under the other ID are stored under the first ID. An entry that others are merged into cannot be merged itself. A catalogue can have at most 100 merges.',
    paths: ['/account/mergeEntry'],
    tokens: ['editor', ...owners],
    refuses: ['unknown_entry', 'merge_refused'],
    input: entries.mergeEntryInput,
    output: entries.mergeEntryOutput,
  }),
  unmergeEntry: post({
    summary: 'Undo a merge of catalogue entries.',
    details:
      'Events sent under the merged entry’s ID belong to that entry again, including events sent while it was merged.',
    paths: ['/account/unmergeEntry'],
    tokens: ['editor', ...owners],
    refuses: ['unknown_entry', 'merge_refused'],
    input: entries.unmergeEntryInput,
    output: entries.unmergeEntryOutput,
  }),
  createToken: post({
    summary: 'Create a token. Only this call returns a secret token itself.',
    details: 'A server token may create browser, agent, viewer, editor and server tokens for its own account.',
    paths: ['/account/createToken'],
    tokens: owners,
    example: ['tokenName', 'expiresTime'],
    input: account.createTokenInput,
    output: account.createTokenOutput,
  }),
  revokeToken: post({
    summary:
      'Revoke a token and, with descendants=true, every token and share link that it created. They stop working immediately, and webhooks that they created are disabled.',
    paths: ['/account/revokeToken'],
    tokens: owners,
    example: ['descendants'],
    refuses: ['unknown_token'],
    input: account.revokeTokenInput,
    output: account.revokeTokenOutput,
  }),
  inviteMember: post({
    summary: 'Invite a person to sign in to the console, or renew a member’s invitation.',
    details:
      'Only this response contains the code of the invitation, which can be used once. The person opens `/console/join#code=<code>` and chooses a password or creates a passkey. A member who is invited again keeps the role, and can use the current password and passkeys until the new password or passkey replaces them. Earlier codes stop working.',
    paths: ['/account/inviteMember'],
    tokens: owners,
    example: ['memberName'],
    input: members.inviteMemberInput,
    output: members.inviteMemberOutput,
  }),
  listMembers: get({
    summary: 'List the console’s members, including invited ones, sorted by e-mail address.',
    paths: ['/account/listMembers'],
    tokens: owners,
    input: members.listMembersInput,
    output: members.listMembersOutput,
  }),
  updateMember: post({
    summary: 'Change a member’s role. The change also applies to open sessions.',
    paths: ['/account/updateMember'],
    tokens: owners,
    refuses: ['unknown_member'],
    input: members.updateMemberInput,
    output: members.updateMemberOutput,
  }),
  removeMember: post({
    summary: "Remove a member and delete the member's name and e-mail address. The member's sessions end immediately.",
    details:
      'Tokens, share links and open invitations that the member created stay valid unless `descendants` is true. Browser tokens always stay valid, because pages use them. People whom the member invited and who have joined stay members.',
    paths: ['/account/removeMember'],
    tokens: owners,
    example: ['descendants'],
    refuses: ['unknown_member'],
    input: members.removeMemberInput,
    output: members.removeMemberOutput,
  }),
  getService: get({
    summary: 'Retrieve information about the service: its version, backups, retention and proxy.',
    paths: ['/account/getService'],
    tokens: owners,
    input: service.getServiceInput,
    output: service.getServiceOutput,
  }),
  listRefused: get({
    summary: 'List the writes that were rejected for their content, oldest first.',
    details:
      'A write stays on the list, without its token, until it is resent or discarded, newer writes replace it, or a contact that it refers to is erased.',
    paths: ['/account/listRefused'],
    tokens: owners,
    csv: { list: 'refused', limit: limits.refusedPerPage },
    input: refused.listRefusedInput,
    output: refused.listRefusedOutput,
  }),
  replayRefused: post({
    summary: 'Resend a rejected write, optionally with a fix, keeping its eventUUID, time and token.',
    details:
      'A write that is stored is removed from the list. A write that is rejected again stays on the list, and the response gives the reason.',
    paths: ['/account/replayRefused'],
    tokens: owners,
    body: 'batch',
    example: ['fix'],
    refuses: ['unknown_refused'],
    input: refused.replayRefusedInput,
    output: refused.replayRefusedOutput,
  }),
  discardRefused: post({
    summary: 'Remove a rejected write from the list without resending it.',
    paths: ['/account/discardRefused'],
    tokens: owners,
    refuses: ['unknown_refused'],
    input: refused.discardRefusedInput,
    output: refused.discardRefusedOutput,
  }),
  listAudit: get({
    summary: 'List actions in the account and who performed them, newest first.',
    details: 'Entries cannot be changed or deleted. They contain no personal data except contactUUIDs.',
    paths: ['/account/listAudit'],
    tokens: owners,
    example: ['action'],
    csv: { list: 'audit', limit: limits.auditEntriesPerPage },
    input: audit.listAuditInput,
    output: audit.listAuditOutput,
  }),
  getContact: get({
    summary: 'Retrieve a contact with its profile, tags and attributes.',
    details:
      'A browser token identifies the contact by its handle, and reads only the data that its own browser sent. If a claim has no data but a contactExternalID, only that ID is returned. For a merged contact, the response has the contact that it was merged into.',
    paths: ['/contact/getContact', '/subscriber/getSubscriber', `/${pageNames.getContact}`],
    tokens: ['browser', ...readers],
    openToPages: true,
    example: ['contactUUID', 'include'],
    refuses: ['unknown_contact', 'erased_contact'],
    input: contact.getContactInput,
    output: contact.getContactOutput,
  }),
  createContact: post({
    summary: 'Create a contact, or find it by your own ID or its e-mail address, and link the user to it.',
    details:
      'Requires a contactExternalID or a contactEmailaddress. With a server token, the fields are written to the contact. If both keys are sent, the address is set on the contact with the contactExternalID; if no contact has that ID, the ID is set on the contact with the address. With a contactExternalID, a server token may omit the userUUID. With a browser token, the fields are a claim, which is stored separately and does not change the contact. With a requestUUID, a duplicate request changes nothing.',
    paths: ['/contact/createContact', '/createContact', '/subscriber/createSubscriber', `/${pageNames.createContact}`],
    tokens: ['browser', ...editors],
    openToPages: true,
    example: ['userUUID', 'contactEmailaddress', 'contactFirstname', 'contactTagID', 'contactAttr', 'requestUUID'],
    refuses: ['unknown_id', 'id_not_for_browser', 'quota', 'erased_contact', 'email_taken', 'external_id_taken'],
    input: contact.createContactInput,
    output: contact.createContactOutput,
  }),
  createContacts: post({
    summary: 'Create or find up to 1,000 contacts, each with its own result.',
    details:
      'Each contact is processed as by createContact and has its own status in the response, so an invalid contact does not fail the others.',
    paths: ['/contact/createContacts'],
    tokens: editors,
    body: 'batch',
    refuses: ['quota'],
    input: contact.createContactsInput,
    entries: { contact: contact.batchContact },
    output: contact.createContactsOutput,
  }),
  updateContact: post({
    summary: 'Update a contact’s fields.',
    details:
      'An absent field or "" leaves a value unchanged; null clears it. The first present field of contactUUID, contactExternalID and contactEmailaddress identifies the contact; the others are written to it.',
    paths: ['/contact/updateContact', '/subscriber/updateSubscriber'],
    tokens: editors,
    example: ['contactUUID', 'contactTelephone', 'contactTagID'],
    refuses: ['unknown_contact', 'erased_contact', 'email_taken', 'external_id_taken', 'unknown_id'],
    input: contact.updateContactInput,
    output: contact.updateContactOutput,
  }),
  searchContact: get({
    summary: 'Find contacts by text, e-mail address, segment, profile, tag or status.',
    details: '`segment` and `include=touch` run a report, and can fail for the same reasons as a report.',
    paths: ['/contact/searchContact'],
    tokens: readers,
    example: ['contactTagID', 'limit'],
    slow: true,
    refuses: reportCodes,
    csv: { list: 'contact', limit: limits.contactsPerPage },
    input: contact.searchContactInput,
    output: contact.searchContactOutput,
  }),
  exportContact: post({
    summary: 'Return all data about a contact, in pages: its record, claims, links, imports and events.',
    details:
      'Follow nextCursor until it is "". Values have the IDs under which they were stored, even those of merged catalogue entries. The call is recorded in the audit log.',
    paths: ['/contact/exportContact'],
    tokens: editors,
    example: ['contactUUID', 'limit'],
    refuses: ['unknown_contact', 'erased_contact'],
    input: contact.exportContactInput,
    output: contact.exportContactOutput,
  }),
  eraseContact: post({
    summary: 'Erase a contact and its events. A repeated call returns the progress.',
    details: 'No read returns the contact after this call. Its events are deleted afterwards.',
    paths: ['/contact/eraseContact'],
    tokens: server,
    example: ['contactUUID'],
    refuses: ['unknown_contact'],
    input: contact.eraseContactInput,
    output: contact.eraseContactOutput,
  }),
  linkUser: post({
    summary: 'Link a user to a contact, for events from now on.',
    details: "The user's earlier anonymous events also become the contact's.",
    paths: ['/contact/linkUser'],
    tokens: editors,
    example: ['contactUUID'],
    refuses: ['unknown_contact', 'erased_contact'],
    input: link.linkUserInput,
    output: link.linkUserOutput,
  }),
  unlinkUser: post({
    summary: 'Unlink a user, making them anonymous from then on.',
    paths: ['/contact/unlinkUser'],
    tokens: editors,
    refuses: ['unknown_user'],
    input: link.unlinkUserInput,
    output: link.unlinkUserOutput,
  }),
  voidLink: post({
    summary: 'Ignore a link, or all links claimed with a token in a time range; restore=true undoes this.',
    details: 'Events go back to their previous owner.',
    paths: ['/contact/voidLink'],
    tokens: editors,
    example: ['linkID'],
    refuses: ['unknown_link', 'unknown_token', 'erased_contact'],
    input: link.voidLinkInput,
    output: link.voidLinkOutput,
  }),
  acceptClaim: post({
    summary: "Accept a claim: its values become the contact's, and its link counts as verified.",
    paths: ['/contact/acceptClaim'],
    tokens: editors,
    refuses: ['unknown_claim', 'erased_contact', 'external_id_taken'],
    input: link.acceptClaimInput,
    output: link.acceptClaimOutput,
  }),
  voidClaim: post({
    summary: "Ignore a claim's values and its link; restore=true undoes this.",
    paths: ['/contact/voidClaim'],
    tokens: editors,
    refuses: ['unknown_claim', 'erased_contact', 'external_id_taken'],
    input: link.voidClaimInput,
    output: link.voidClaimOutput,
  }),
  mergeContact: post({
    summary: 'Merge one contact into another.',
    details: 'The first contact then represents both. No event is rewritten.',
    paths: ['/contact/mergeContact'],
    tokens: editors,
    example: ['contactUUID', 'otherContactUUID'],
    refuses: ['unknown_contact', 'erased_contact', 'merge_refused'],
    input: link.mergeContactInput,
    output: link.mergeContactOutput,
  }),
  unmergeContact: post({
    summary: 'Undo a merge.',
    details: 'Data that the other contact had before the merge belongs to that contact again.',
    paths: ['/contact/unmergeContact'],
    tokens: editors,
    example: ['otherContactUUID'],
    refuses: ['unknown_contact', 'erased_contact', 'merge_refused'],
    input: link.unmergeContactInput,
    output: link.unmergeContactOutput,
  }),
  logEvent: operation({
    summary: 'Log an event for an anonymous user or a contact.',
    details:
      'A 200 means that the event is committed and synced to disk. An event that is sent again with the same eventUUID is stored only once. For a GET request whose Accept header prefers images, the response is a 1×1 GIF.',
    methods: ['POST', 'GET'],
    paths: ['/event/logEvent', '/logEvent', `/${pageNames.logEvent}`],
    tokens: pageAndServer,
    openToPages: true,
    example: ['eventID', 'userUUID', 'eventUUID', 'eventTime', 'eventAttrArray'],
    refuses: ['unknown_contact', 'erased_contact', 'unknown_id', 'id_not_for_browser', 'quota'],
    input: event.logEventInput,
    output: event.logEventOutput,
  }),
  logEvents: post({
    summary: 'Log up to 1,000 events in one commit.',
    details: 'Each event has its own status in the response, so an invalid event does not fail the others.',
    paths: ['/event/logEvents', `/${pageNames.logEvents}`],
    tokens: pageAndServer,
    openToPages: true,
    body: 'batch',
    example: ['userUUID'],
    refuses: ['quota'],
    input: event.logEventsInput,
    entries: { event: event.batchEvent },
    output: event.logEventsOutput,
  }),
  createImport: post({
    summary: 'Begin or continue importing a file.',
    details:
      'If the account has imported a file with this fingerprint and has not undone that import, the response describes that import. Send the records that start at its `position`.',
    paths: ['/import/createImport'],
    tokens: editors,
    input: imports.createImportInput,
    output: imports.createImportOutput,
  }),
  importEvents: post({
    summary: "Store the next messages of an import, in the form of Segment's HTTP API.",
    details:
      'The messages are stored, and the position advances, in one commit. If the import is not at `position`, nothing is stored, and the response has the actual position: continue from there. A request can therefore be repeated. Old event times are not replaced. Contacts that the import did not create get additional values, but none of their values is replaced.',
    paths: ['/import/importEvents'],
    tokens: ['server'],
    body: 'batch',
    example: ['importID', 'position'],
    refuses: ['unknown_import', 'import_undone', 'quota'],
    input: imports.importEventsInput,
    output: imports.importEventsOutput,
  }),
  importContacts: post({
    summary: 'Store an import’s next contacts, or only check them.',
    details:
      'A contact is found by its contactExternalID or, without one, by its contactEmailaddress; otherwise it is created. The given values replace those of the contact. The contacts are stored, and the position advances, in one commit. If the import is not at `position`, nothing is stored, and the response has the actual position: continue from there. A request can therefore be repeated.',
    paths: ['/import/importContacts'],
    tokens: editors,
    body: 'batch',
    example: ['importID', 'position'],
    refuses: ['unknown_import', 'import_undone', 'quota'],
    input: imports.importContactsInput,
    entries: { contact: imports.importedContact },
    output: imports.importContactsOutput,
  }),
  listImports: get({
    summary: 'List the account’s imports, newest first.',
    paths: ['/import/listImports'],
    tokens: editors,
    input: imports.listImportsInput,
    output: imports.listImportsOutput,
  }),
  undoImport: post({
    summary: 'Undo an import: remove its events, links and contacts. A repeated call returns the progress.',
    details:
      'Reports exclude the import’s events immediately; the events, and everything else that it stored, are removed afterwards. Contacts that something else has changed or uses are kept. After the undo, the file can be imported again.',
    paths: ['/import/undoImport'],
    tokens: editors,
    refuses: ['unknown_import'],
    input: imports.undoImportInput,
    output: imports.undoImportOutput,
  }),
  createHandover: post({
    summary: "Encrypt a userUUID, so that a link can carry it to another of the customer's domains.",
    details:
      'A handover is valid for two minutes, between the two hosts and for the same User-Agent. The tracker calls this operation for the hosts in data-domains.',
    paths: ['/user/createHandover', `/${pageNames.createHandover}`],
    tokens: pageAndServer,
    openToPages: true,
    input: handover.createHandoverInput,
    output: handover.createHandoverOutput,
  }),
  takeHandover: post({
    summary: 'Exchange a handover for its userUUID.',
    details:
      'A handover is rejected after two minutes, for other hosts, with the token of another account, and for another User-Agent. An Origin header must match the host in `to`.',
    paths: ['/user/takeHandover', `/${pageNames.takeHandover}`],
    tokens: pageAndServer,
    openToPages: true,
    input: handover.takeHandoverInput,
    output: handover.takeHandoverOutput,
  }),
  getEvent: get({
    summary: 'Read events, newest first by default.',
    details: 'Follow nextCursor until it is "". The owner of each event is computed at read time.',
    paths: ['/event/getEvent'],
    tokens: readers,
    example: ['userUUID', 'limit', 'include'],
    refuses: ['unknown_contact', 'erased_contact'],
    csv: { list: 'event', limit: limits.eventsPerPage },
    input: event.getEventInput,
    output: event.getEventOutput,
  }),
  countEvents: get({
    summary: 'Count events over time.',
    details: 'At most 1,000 intervals.',
    paths: ['/event/countEvents'],
    tokens: readers,
    example: ['interval', 'include'],
    input: event.countEventsInput,
    output: event.countEventsOutput,
  }),
  streamEvents: get({
    summary: 'Stream events as they are stored, as server-sent events.',
    paths: ['/event/streamEvents'],
    tokens: readers,
    stream: true,
    example: ['userUUID'],
    refuses: ['unknown_contact', 'erased_contact'],
    input: event.streamEventsInput,
    output: event.event,
  }),
  reportTotals: get({
    summary:
      'Count events, users, people and sessions in a time range and, with `interval`, per hour, day, week or month.',
    details:
      'With `attrID`, the response also has statistics of the numbers in that attribute. The range has at most 1,000 intervals. Every event stored before the request is counted, for its current owner.',
    paths: ['/report/reportTotals'],
    tokens: readers,
    example: ['interval', 'eventName', 'attrID', 'compare'],
    slow: true,
    refuses: goalReportCodes,
    input: report.reportTotalsInput,
    output: report.reportTotalsOutput,
  }),
  reportBreakdown: get({
    summary:
      'Count events, users, people and sessions by one or two dimensions: attributes, kinds of events, entry and exit pages, weekdays or hours.',
    details: 'Returns the rows with the highest counts, and the exact total of all others.',
    paths: ['/report/reportBreakdown'],
    tokens: readers,
    example: ['filter', 'sort', 'limit'],
    slow: true,
    refuses: goalReportCodes,
    csv: { list: 'row', limit: limits.rowsPerCSVBreakdown },
    input: report.reportBreakdownInput,
    output: report.reportBreakdownOutput,
  }),
  reportFunnel: get({
    summary: 'Count how many people, or sessions, go through two to eight steps in order.',
    paths: ['/report/reportFunnel'],
    tokens: readers,
    example: ['within'],
    slow: true,
    refuses: reportCodes,
    input: report.reportFunnelInput,
    output: report.reportFunnelOutput,
  }),
  reportRetention: get({
    summary: 'Count how many people who first did something in a day, week or month came back later.',
    details: 'At most 100 periods.',
    paths: ['/report/reportRetention'],
    tokens: readers,
    example: ['first', 'back', 'interval'],
    slow: true,
    refuses: reportCodes,
    input: report.reportRetentionInput,
    output: report.reportRetentionOutput,
  }),
  reportPeople: get({
    summary: 'List the people behind a figure in a report: contacts, and users without a contact.',
    details:
      'The request has the fields of the report, without `compare`, and fields that select a figure: `by` and `value` for a row of reportBreakdown; `step` with `reached` or `dropped` for a step of reportFunnel; `cohort` for a period of reportRetention, with `later` for those who came back. Without these fields, it lists all people in the range. All pages together list exactly as many people as the report counts.',
    paths: ['/report/reportPeople'],
    tokens: readers,
    example: ['filter', 'limit'],
    slow: true,
    refuses: goalReportCodes,
    csv: { list: 'person', limit: limits.peoplePerPage },
    input: people.reportPeopleInput,
    output: people.reportPeopleOutput,
  }),
  reportLive: get({
    summary: 'Count the people in the last five minutes, by page, referrer and country.',
    details: 'Each person counts once in each list, under the value of their newest event that has one.',
    paths: ['/report/reportLive'],
    tokens: readers,
    example: ['limit'],
    slow: true,
    refuses: reportCodes,
    input: report.reportLiveInput,
    output: report.reportLiveOutput,
  }),
  createSegment: post({
    summary: 'Save a report filter under a name that other filters can use.',
    details:
      'A segment with the same name is replaced. A report uses the filter that is saved when the report runs. An account can have at most 100 segments.',
    paths: ['/report/createSegment'],
    tokens: editors,
    input: segment.createSegmentInput,
    output: segment.createSegmentOutput,
  }),
  listSegments: get({
    summary: 'List the account’s segments, sorted by name.',
    paths: ['/report/listSegments'],
    tokens: readers,
    input: segment.listSegmentsInput,
    output: segment.listSegmentsOutput,
  }),
  deleteSegment: post({
    summary: 'Delete a segment.',
    details:
      'Reports whose filters refer to the segment are rejected from then on. A segment that a webhook sends can’t be deleted.',
    paths: ['/report/deleteSegment'],
    tokens: editors,
    refuses: ['unknown_segment'],
    input: segment.deleteSegmentInput,
    output: segment.deleteSegmentOutput,
  }),
  createView: post({
    summary: 'Save a console report page as a named view.',
    details: 'A view with the same name is replaced. An account can have at most 100 views.',
    paths: ['/report/createView'],
    tokens: editors,
    example: ['viewQuery'],
    input: view.createViewInput,
    output: view.createViewOutput,
  }),
  listViews: get({
    summary: 'List the account’s saved views, sorted by name.',
    paths: ['/report/listViews'],
    tokens: readers,
    input: view.listViewsInput,
    output: view.listViewsOutput,
  }),
  deleteView: post({
    summary: 'Delete a saved view.',
    paths: ['/report/deleteView'],
    tokens: editors,
    refuses: ['unknown_view'],
    input: view.deleteViewInput,
    output: view.deleteViewOutput,
  }),
  createGoal: post({
    summary: 'Create a goal: an event or a page, whose conversions reportTotals and reportBreakdown count.',
    details: `An account can have at most ${limits.goalsPerAccount} goals.`,
    paths: ['/report/createGoal'],
    tokens: editors,
    example: ['eventName', 'attrID'],
    input: goal.createGoalInput,
    output: goal.createGoalOutput,
  }),
  updateGoal: post({
    summary: 'Change a goal.',
    details:
      'Fields that are absent do not change. A new `eventID`, `eventName` or `path` replaces the previous one. Reports use the goal as it is when they run.',
    paths: ['/report/updateGoal'],
    tokens: editors,
    example: ['path'],
    refuses: ['unknown_goal'],
    input: goal.updateGoalInput,
    output: goal.updateGoalOutput,
  }),
  listGoals: get({
    summary: 'List the goals of the account, sorted by name.',
    paths: ['/report/listGoals'],
    tokens: readers,
    input: goal.listGoalsInput,
    output: goal.listGoalsOutput,
  }),
  deleteGoal: post({
    summary: 'Delete a goal.',
    details: 'Reports with its goalID are rejected from then on.',
    paths: ['/report/deleteGoal'],
    tokens: editors,
    refuses: ['unknown_goal'],
    input: goal.deleteGoalInput,
    output: goal.deleteGoalOutput,
  }),
  createNote: post({
    summary: 'Add a note, such as a deployment or a mailing, to the plots of the console.',
    details: `A repeat with the same \`noteText\` and \`noteTime\` returns the existing note. An account can have at most ${limits.notesPerAccount.toLocaleString('en')} notes. Share links do not show notes.`,
    paths: ['/report/createNote'],
    tokens: editors,
    example: ['noteTime'],
    input: note.createNoteInput,
    output: note.createNoteOutput,
  }),
  listNotes: get({
    summary: 'List the notes of the account, newest first.',
    paths: ['/report/listNotes'],
    tokens: readers,
    example: ['from'],
    input: note.listNotesInput,
    output: note.listNotesOutput,
  }),
  deleteNote: post({
    summary: 'Delete a note.',
    paths: ['/report/deleteNote'],
    tokens: editors,
    refuses: ['unknown_note'],
    input: note.deleteNoteInput,
    output: note.deleteNoteOutput,
  }),
  createShareLink: post({
    summary: 'Create a secret link that shows reports to anyone who has it, without an account.',
    details:
      'Only this response contains the secret of the link. The link shows these reports and nothing else. Segments in their filters are frozen as they are now; goals are not. Breakdowns by contact tags or profiles are rejected. Each report needs a `to`, unless `moving` is given. An account can have at most 100 links that have not expired.',
    paths: ['/report/createShareLink'],
    tokens: editors,
    example: ['viewQuery'],
    refuses: ['unknown_segment', 'unknown_goal'],
    input: shareLink.createShareLinkInput,
    output: shareLink.createShareLinkOutput,
  }),
  listShareLinks: get({
    summary: 'List the account’s share links, newest first, without their secrets.',
    paths: ['/report/listShareLinks'],
    tokens: editors,
    input: shareLink.listShareLinksInput,
    output: shareLink.listShareLinksOutput,
  }),
  revokeShareLink: post({
    summary: 'Revoke a share link. It stops working immediately, even in open pages.',
    paths: ['/report/revokeShareLink'],
    tokens: editors,
    refuses: ['unknown_share_link'],
    input: shareLink.revokeShareLinkInput,
    output: shareLink.revokeShareLinkOutput,
  }),
  createWebhook: post({
    summary: 'Create a webhook, which sends events and contact changes to a URL as they are stored.',
    details:
      'Only this response contains the secret that signs each message (Standard Webhooks 1.0.0). The webhook sends what is stored from now on.',
    paths: ['/webhook/createWebhook'],
    tokens: server,
    refuses: ['unknown_segment'],
    example: ['description', 'payload'],
    input: webhook.createWebhookInput,
    output: webhook.createWebhookOutput,
  }),
  listWebhooks: get({
    summary: 'List the account’s webhooks, oldest first, without their secrets.',
    paths: ['/webhook/listWebhooks'],
    tokens: server,
    input: webhook.listWebhooksInput,
    output: webhook.listWebhooksOutput,
  }),
  updateWebhook: post({
    summary: 'Change, pause or resume a webhook.',
    details:
      'Fields that are absent do not change. A webhook that resumes continues where it stopped: set `state` to `active` after you have repaired an endpoint.',
    paths: ['/webhook/updateWebhook'],
    tokens: server,
    example: ['state'],
    refuses: ['unknown_webhook', 'unknown_segment'],
    input: webhook.updateWebhookInput,
    output: webhook.updateWebhookOutput,
  }),
  rotateWebhookSecret: post({
    summary: 'Replace a webhook’s secret. For 24 hours, messages are signed with both secrets.',
    paths: ['/webhook/rotateWebhookSecret'],
    tokens: server,
    refuses: ['unknown_webhook'],
    input: webhook.rotateWebhookSecretInput,
    output: webhook.rotateWebhookSecretOutput,
  }),
  deleteWebhook: post({
    summary: 'Delete a webhook. Messages that have not been delivered yet are discarded.',
    paths: ['/webhook/deleteWebhook'],
    tokens: server,
    refuses: ['unknown_webhook'],
    input: webhook.deleteWebhookInput,
    output: webhook.deleteWebhookOutput,
  }),
  testWebhook: post({
    summary: 'Send a message of the type `webhook.test` to a webhook now, and return the response.',
    paths: ['/webhook/testWebhook'],
    tokens: server,
    slow: true,
    refuses: ['unknown_webhook'],
    input: webhook.testWebhookInput,
    output: webhook.testWebhookOutput,
  }),
  listWebhookDeliveries: get({
    summary: 'List a webhook’s messages after a sequence, with the state of each delivery.',
    details:
      'A receiver that cannot be reached from the internet can read its messages with this operation instead: pass `nextSequence` as `after` of the next request.',
    paths: ['/webhook/listWebhookDeliveries'],
    tokens: server,
    example: ['after'],
    refuses: ['unknown_webhook'],
    input: webhook.listWebhookDeliveriesInput,
    output: webhook.listWebhookDeliveriesOutput,
  }),
  resendWebhook: post({
    summary: 'Resend one of a webhook’s messages, or a range of them, with the same IDs.',
    paths: ['/webhook/resendWebhook'],
    tokens: server,
    example: ['through'],
    refuses: ['unknown_webhook'],
    input: webhook.resendWebhookInput,
    output: webhook.resendWebhookOutput,
  }),
  createNotification: post({
    summary: 'Create a notification: a digest of reports by mail, or an alert.',
    details:
      'Mails are sent to members of the account who have confirmed their address. Each mail has a link that unsubscribes its recipient.',
    paths: ['/notification/createNotification'],
    tokens: editors,
    example: ['every', 'recipient'],
    refuses: ['unknown_segment', 'unknown_member', 'no_mail'],
    input: notification.createNotificationInput,
    output: notification.createNotificationOutput,
  }),
  listNotifications: get({
    summary: 'List the notifications of the account, oldest first.',
    paths: ['/notification/listNotifications'],
    tokens: readers,
    input: notification.listNotificationsInput,
    output: notification.listNotificationsOutput,
  }),
  updateNotification: post({
    summary: 'Rename, pause or resume a notification, or change its recipients.',
    details: 'Fields that are absent do not change.',
    paths: ['/notification/updateNotification'],
    tokens: editors,
    example: ['state'],
    refuses: ['unknown_notification', 'unknown_member', 'no_mail'],
    input: notification.updateNotificationInput,
    output: notification.updateNotificationOutput,
  }),
  deleteNotification: post({
    summary: 'Delete a notification. Mails that are not sent yet are discarded.',
    paths: ['/notification/deleteNotification'],
    tokens: editors,
    refuses: ['unknown_notification'],
    input: notification.deleteNotificationInput,
    output: notification.deleteNotificationOutput,
  }),
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof operations;
/** An operation's checked and coerced input. */
export type InputOf<Name extends OperationName> = z.output<(typeof operations)[Name]['input']>;
/** The request that a client may send, before coercion. */
export type RequestOf<Name extends OperationName> = z.input<(typeof operations)[Name]['input']>;
/** An operation's result: its response without `status` and `ignored`. */
export type OutputOf<Name extends OperationName> = Omit<
  z.output<(typeof operations)[Name]['output']>,
  'status' | 'ignored'
>;
export type ResponseOf<Name extends OperationName> = z.output<(typeof operations)[Name]['output']>;

/**
 * Whether an operation is read-only: it does not take POST. Reads reject unknown parameters; other operations list them
 * in `ignored`.
 */
export const isRead = ({ methods }: Operation): boolean => !methods.includes('POST');

export const operationNames = Object.keys(operations) as OperationName[];
