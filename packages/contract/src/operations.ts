/** The table of operations. The router, the OpenAPI document and the typed client are made from it. */
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
import { limits } from './limits.ts';
import * as link from './link.ts';
import * as people from './reports/people.ts';
import * as report from './reports/report.ts';
import * as segment from './reports/segment.ts';
import * as shareLink from './reports/share-link.ts';
import * as view from './reports/view.ts';

export interface Operation<Input extends z.ZodType = z.ZodType, Output extends z.ZodType = z.ZodType> {
  readonly summary: string;
  /** What the summary leaves out, in sentences. */
  readonly details?: string;
  /** The fields, beside the required ones, that the example of a request has. */
  readonly example?: readonly string[];
  /** The error codes of this operation beside those that follow from the rest of the table (document/operation-errors.ts). */
  readonly refuses?: readonly ErrorCode[];
  /** The typed client uses the first method and the first path. */
  readonly methods: readonly ['GET' | 'POST', ...('GET' | 'POST')[]];
  readonly paths: readonly [`/${string}`, ...`/${string}`[]];
  readonly tokens: readonly TokenKind[];
  /** Whether pages of any origin may read the response (CORS). */
  readonly openToPages?: true;
  /** The limit of the body's size: `batch` for limits.batchBodyBytes (1 MiB); limits.bodyBytes (64 KiB) if absent. */
  readonly body?: 'batch';
  /** The response is a stream of server-sent events; the data of each is one `output`. */
  readonly stream?: true;
  /** The response may take 10 seconds, and longer while others are waited for: the typed client is patient. */
  readonly slow?: true;
  /**
   * The list in the response whose entries are the rows of a CSV file, for requests with `Accept: text/csv`. The server reads `limit` rows at
   * a time, and all of them.
   */
  readonly csv?: { readonly list: string; readonly limit: number };
  /** The fields of the request, without tokenUUID. */
  readonly input: Input;
  /** Lists in the input whose entries are checked one by one: an invalid entry does not fail the others. */
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
/** The secret kinds of an account's tokens: all read its data. */
const readers = ['viewer', 'editor', 'server'] as const;
/** The kinds that change contacts, catalogues, segments and views, and share reports. */
const editors = ['editor', 'server'] as const;
/** What each report may be refused with. */
const ofReports = ['unknown_segment', 'report_too_slow', 'no_reports'] as const;
const accountEntries = { contact: contact.accountContact };

export const operations = {
  getAccount: get({
    summary: 'Retrieve the account: its catalogues, tokens (for a server or operator token), usage and limits.',
    paths: ['/account/getAccount'],
    tokens: [...readers, 'operator'],
    input: account.getAccountInput,
    output: account.getAccountOutput,
  }),
  createAccount: post({
    summary: 'Create an account, with catalogues and contacts.',
    details: "The response holds the account's tokens. The text of the server token is returned only by this call.",
    paths: ['/account/createAccount'],
    tokens: ['operator'],
    body: 'batch',
    example: ['accountOrigin', 'event'],
    input: account.createAccountInput,
    entries: accountEntries,
    output: account.createAccountOutput,
  }),
  updateAccount: post({
    summary: 'Change the given fields of an account; add or change catalogue entries and contacts.',
    details:
      'Absent fields and catalogue entries stay as they are. Contacts are never removed. An editor token may change catalogues and contacts only. A removal with `force` changes contacts one after the other; repeat the request if its response was lost.',
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
    summary: 'Merge an entry of a catalogue into another one.',
    details:
      'Every read but exportContact then speaks of the first entry alone: what was stored under the ID of the other one, and what is sent under it later, is read, filtered and counted as that of the first. No event is rewritten. Where an event or a contact has both attributes, the value of the first one counts. Values that contacts get under the other ID from then on are written to the first. An entry stands for others or is merged, not both; a catalogue has at most 100 merges.',
    paths: ['/account/mergeEntry'],
    tokens: ['editor', ...owners],
    refuses: ['unknown_entry', 'merge_refused'],
    input: entries.mergeEntryInput,
    output: entries.mergeEntryOutput,
  }),
  unmergeEntry: post({
    summary: 'Undo the merge of an entry.',
    details: 'The events that were sent under its ID are its own again, those that were sent while it was merged too.',
    paths: ['/account/unmergeEntry'],
    tokens: ['editor', ...owners],
    refuses: ['unknown_entry', 'merge_refused'],
    input: entries.unmergeEntryInput,
    output: entries.unmergeEntryOutput,
  }),
  createToken: post({
    summary: 'Create a token. The text of a secret token is returned only by this call.',
    details: 'A server token may create browser, viewer, editor and server tokens of its own account.',
    paths: ['/account/createToken'],
    tokens: owners,
    example: ['tokenName', 'expiresTime'],
    input: account.createTokenInput,
    output: account.createTokenOutput,
  }),
  revokeToken: post({
    summary:
      'Revoke a token, with descendants=true also every token and share link that it made. They stop working at once.',
    paths: ['/account/revokeToken'],
    tokens: owners,
    example: ['descendants'],
    refuses: ['unknown_token'],
    input: account.revokeTokenInput,
    output: account.revokeTokenOutput,
  }),
  inviteMember: post({
    summary: 'Invite a person who may sign in to the console, or invite a member again.',
    details:
      'The response holds the code of the invitation, once; it works once. The person opens `/console/join#code=<code>` and chooses a password or makes a passkey. A member who is invited again keeps the role, and the present password and passkeys until then; the new one replaces them all. An earlier code stops working.',
    paths: ['/account/inviteMember'],
    tokens: owners,
    example: ['memberName'],
    input: members.inviteMemberInput,
    output: members.inviteMemberOutput,
  }),
  listMembers: get({
    summary: 'List the people who may sign in to the console, or are invited, sorted by e-mail address.',
    paths: ['/account/listMembers'],
    tokens: owners,
    input: members.listMembersInput,
    output: members.listMembersOutput,
  }),
  updateMember: post({
    summary: 'Change the role of a member. It holds for open sessions too.',
    paths: ['/account/updateMember'],
    tokens: owners,
    refuses: ['unknown_member'],
    input: members.updateMemberInput,
    output: members.updateMemberOutput,
  }),
  removeMember: post({
    summary: 'Remove a member, with the name and e-mail address. Open sessions of the member end at once.',
    details:
      'Tokens, share links and open invitations that the member created stay valid unless `descendants` is true. Browser tokens stay valid in either case, because pages use them, and so do members who were invited and have joined.',
    paths: ['/account/removeMember'],
    tokens: owners,
    example: ['descendants'],
    refuses: ['unknown_member'],
    input: members.removeMemberInput,
    output: members.removeMemberOutput,
  }),
  getService: get({
    summary: 'Retrieve what an owner should know of the service: its version, backups, retention and proxy.',
    paths: ['/account/getService'],
    tokens: owners,
    input: service.getServiceInput,
    output: service.getServiceOutput,
  }),
  listRefused: get({
    summary: 'List the writes that were refused for their content, oldest first.',
    details:
      'They are on the list, without their tokens, until they are sent again, give way to later ones or name a contact that is erased.',
    paths: ['/account/listRefused'],
    tokens: owners,
    csv: { list: 'refused', limit: limits.refusedPerPage },
    input: refused.listRefusedInput,
    output: refused.listRefusedOutput,
  }),
  replayRefused: post({
    summary: 'Send a refused write again, with the same eventUUID, time and token, after a fix.',
    details: 'One that is carried out leaves the list. One that is refused again stays, and the response says why.',
    paths: ['/account/replayRefused'],
    tokens: owners,
    body: 'batch',
    example: ['fix'],
    refuses: ['unknown_refused'],
    input: refused.replayRefusedInput,
    output: refused.replayRefusedOutput,
  }),
  discardRefused: post({
    summary: 'Remove a refused write from the list without sending it.',
    paths: ['/account/discardRefused'],
    tokens: owners,
    refuses: ['unknown_refused'],
    input: refused.discardRefusedInput,
    output: refused.discardRefusedOutput,
  }),
  listAudit: get({
    summary: 'List who did what in the account, newest first.',
    details: 'Nothing can change or delete an entry. It holds no personal data beyond the contactUUID.',
    paths: ['/account/listAudit'],
    tokens: owners,
    example: ['action'],
    csv: { list: 'audit', limit: limits.auditEntriesPerPage },
    input: audit.listAuditInput,
    output: audit.listAuditOutput,
  }),
  getContact: get({
    summary: 'Look up a contact with its profile, tags and attributes.',
    details:
      'A browser token reads by its handle, and only what its own browser supplied; by the handle of a claim that names the contact by contactExternalID alone, only that ID. A merged contact is returned as the one that it was merged into.',
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
      'Needs a contactExternalID or a contactEmailaddress. With a server token and both, the contactExternalID finds the contact, and the address is written to it; if only the address is known, its contact gets the contactExternalID. With only a contactExternalID, a server token may leave out the userUUID. With a browser token the fields are a claim, which is stored beside the contact and changes none of its fields. With a server token they are written. With a requestUUID, a repeated request changes nothing.',
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
      'Each contact is treated as by createContact, and has its own status in the response: an invalid one does not fail the others.',
    paths: ['/contact/createContacts'],
    tokens: editors,
    body: 'batch',
    refuses: ['quota'],
    input: contact.createContactsInput,
    entries: { contact: contact.batchContact },
    output: contact.createContactsOutput,
  }),
  updateContact: post({
    summary: 'Change the given fields of a contact.',
    details:
      'An absent field or "" leaves a field as it is; null clears it. The first of contactUUID, contactExternalID and contactEmailaddress that is given names the contact; the others are written to it.',
    paths: ['/contact/updateContact', '/subscriber/updateSubscriber'],
    tokens: editors,
    example: ['contactUUID', 'contactTelephone', 'contactTagID'],
    refuses: ['unknown_contact', 'erased_contact', 'email_taken', 'external_id_taken', 'unknown_id'],
    input: contact.updateContactInput,
    output: contact.updateContactOutput,
  }),
  searchContact: get({
    summary: 'Find contacts by text, e-mail address, profile, tag or status.',
    paths: ['/contact/searchContact'],
    tokens: readers,
    example: ['contactTagID', 'limit'],
    csv: { list: 'contact', limit: limits.contactsPerPage },
    input: contact.searchContactInput,
    output: contact.searchContactOutput,
  }),
  exportContact: post({
    summary: 'Return all data of a contact: its record, claims, links and, page by page, events.',
    details:
      'Follow nextCursor until it is "". Values have the IDs under which they are stored, those of merged entries of catalogues too. The call is recorded in the audit log.',
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
    summary: 'Link a user to a contact from now on.',
    details: "Anonymous events of the user before the link become the contact's too.",
    paths: ['/contact/linkUser'],
    tokens: editors,
    example: ['contactUUID'],
    refuses: ['unknown_contact', 'erased_contact'],
    input: link.linkUserInput,
    output: link.linkUserOutput,
  }),
  unlinkUser: post({
    summary: 'Unlink a user: it is anonymous from now on.',
    paths: ['/contact/unlinkUser'],
    tokens: editors,
    refuses: ['unknown_user'],
    input: link.unlinkUserInput,
    output: link.unlinkUserOutput,
  }),
  voidLink: post({
    summary: 'Ignore a link, or all links that a token claimed in a range of time; restore=true undoes it.',
    details: 'The owner from before the link returns.',
    paths: ['/contact/voidLink'],
    tokens: editors,
    example: ['linkID'],
    refuses: ['unknown_link', 'unknown_token', 'erased_contact'],
    input: link.voidLinkInput,
    output: link.voidLinkOutput,
  }),
  acceptClaim: post({
    summary: "Accept a claim: its values become the contact's own, and its link counts as verified.",
    paths: ['/contact/acceptClaim'],
    tokens: editors,
    refuses: ['unknown_claim', 'erased_contact', 'external_id_taken'],
    input: link.acceptClaimInput,
    output: link.acceptClaimOutput,
  }),
  voidClaim: post({
    summary: "Ignore a claim's values and its link; restore=true undoes it.",
    paths: ['/contact/voidClaim'],
    tokens: editors,
    refuses: ['unknown_claim', 'erased_contact', 'external_id_taken'],
    input: link.voidClaimInput,
    output: link.voidClaimOutput,
  }),
  mergeContact: post({
    summary: 'Merge a contact into another one.',
    details: 'The first contact stands for the other as well. No event is rewritten.',
    paths: ['/contact/mergeContact'],
    tokens: editors,
    example: ['contactUUID', 'otherContactUUID'],
    refuses: ['unknown_contact', 'erased_contact', 'merge_refused'],
    input: link.mergeContactInput,
    output: link.mergeContactOutput,
  }),
  unmergeContact: post({
    summary: 'Undo a merge.',
    details: 'What the other contact had before the merge is its own again.',
    paths: ['/contact/unmergeContact'],
    tokens: editors,
    example: ['otherContactUUID'],
    refuses: ['unknown_contact', 'erased_contact', 'merge_refused'],
    input: link.unmergeContactInput,
    output: link.unmergeContactOutput,
  }),
  logEvent: operation({
    summary: 'Log an event against an anonymous user or a contact.',
    details:
      'A 200 means stored: committed and synced to disk. A repeated eventUUID is stored once. By GET with an Accept header for images, the response is a 1×1 GIF.',
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
    details: 'Each event has its own status in the response: an invalid one does not fail the others.',
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
  createHandover: post({
    summary: "Encrypt a userUUID, so that a link can carry it to another of the customer's domains.",
    details:
      'A handover is valid for two minutes, from the one host to the other, for the same User-Agent. The userUUID in it is encrypted. The tracker calls this for the hosts in data-domains.',
    paths: ['/user/createHandover', `/${pageNames.createHandover}`],
    tokens: pageAndServer,
    openToPages: true,
    input: handover.createHandoverInput,
    output: handover.createHandoverOutput,
  }),
  takeHandover: post({
    summary: 'Return the userUUID of a handover.',
    details:
      'Refused after two minutes, for other hosts, with a token of another account and for another User-Agent. An Origin header must name the host `to`.',
    paths: ['/user/takeHandover', `/${pageNames.takeHandover}`],
    tokens: pageAndServer,
    openToPages: true,
    input: handover.takeHandoverInput,
    output: handover.takeHandoverOutput,
  }),
  getEvent: get({
    summary: 'Read events back, newest first unless asked otherwise.',
    details: 'Follow nextCursor until it is "". The owner of each event is computed when it is read.',
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
      'Count events, users, people and sessions in a range of time, with `interval` also hour by hour to month by month.',
    details:
      'With `attrID`, the numbers in that attribute are summed up too. The range has at most 1,000 intervals. Every event stored before the request is counted, and belongs to its present owner.',
    paths: ['/report/reportTotals'],
    tokens: readers,
    example: ['interval', 'eventName', 'attrID', 'compare'],
    slow: true,
    refuses: ofReports,
    input: report.reportTotalsInput,
    output: report.reportTotalsOutput,
  }),
  reportBreakdown: get({
    summary: 'Count the same by one or two attributes, kinds of events, pages of entry and exit, weekdays or hours.',
    details: 'The rows with the greatest counts are returned, and the exact counts of all others together.',
    paths: ['/report/reportBreakdown'],
    tokens: readers,
    example: ['filter', 'sort', 'limit'],
    slow: true,
    refuses: ofReports,
    csv: { list: 'row', limit: limits.rowsPerCSVBreakdown },
    input: report.reportBreakdownInput,
    output: report.reportBreakdownOutput,
  }),
  reportFunnel: get({
    summary: 'Count how many people, or sessions, go through two to eight steps in their order.',
    paths: ['/report/reportFunnel'],
    tokens: readers,
    example: ['within'],
    slow: true,
    refuses: ofReports,
    input: report.reportFunnelInput,
    output: report.reportFunnelOutput,
  }),
  reportRetention: get({
    summary: 'Count how many of the people who did something first in a day, week or month came back later.',
    details: 'At most 100 periods.',
    paths: ['/report/reportRetention'],
    tokens: readers,
    example: ['first', 'back', 'interval'],
    slow: true,
    refuses: ofReports,
    input: report.reportRetentionInput,
    output: report.reportRetentionOutput,
  }),
  reportPeople: get({
    summary: 'List the contacts and the users without one behind a number of a report.',
    details:
      'The request has the fields of the report, without `compare`, and says which number is meant: nothing more for the people of the whole range; `by` and `value` for a row of reportBreakdown; `step` with `reached` or `dropped` for a step of reportFunnel; `cohort`, with `later` for those who came back, for a number of reportRetention. The people on all pages are as many as that number says.',
    paths: ['/report/reportPeople'],
    tokens: readers,
    example: ['filter', 'limit'],
    slow: true,
    refuses: ofReports,
    csv: { list: 'person', limit: limits.peoplePerPage },
    input: people.reportPeopleInput,
    output: people.reportPeopleOutput,
  }),
  reportLive: get({
    summary: 'Count the people of the last five minutes, by their pages, where they came from, and their countries.',
    details: 'Each person is in each list once, by the newest event that says so.',
    paths: ['/report/reportLive'],
    tokens: readers,
    example: ['limit'],
    slow: true,
    refuses: ofReports,
    input: report.reportLiveInput,
    output: report.reportLiveOutput,
  }),
  createSegment: post({
    summary: 'Save a filter of reports under a name that other filters can use.',
    details:
      'A segment of the same name is replaced. A report uses the filter that is saved when the report is asked. An account has at most 100 segments.',
    paths: ['/report/createSegment'],
    tokens: editors,
    input: segment.createSegmentInput,
    output: segment.createSegmentOutput,
  }),
  listSegments: get({
    summary: 'List the segments of the account, sorted by name.',
    paths: ['/report/listSegments'],
    tokens: readers,
    input: segment.listSegmentsInput,
    output: segment.listSegmentsOutput,
  }),
  deleteSegment: post({
    summary: 'Delete a segment.',
    details: 'A report whose filter names it is refused from then on.',
    paths: ['/report/deleteSegment'],
    tokens: editors,
    refuses: ['unknown_segment'],
    input: segment.deleteSegmentInput,
    output: segment.deleteSegmentOutput,
  }),
  createView: post({
    summary: 'Save a page of reports of the console under a name.',
    details: 'A view of the same name is replaced. An account has at most 100 views.',
    paths: ['/report/createView'],
    tokens: editors,
    example: ['viewQuery'],
    input: view.createViewInput,
    output: view.createViewOutput,
  }),
  listViews: get({
    summary: 'List the saved views of the account, sorted by name.',
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
  createShareLink: post({
    summary: 'Create a secret link that shows the given reports to anybody who has it, without an account.',
    details:
      'The response holds the secret of the link, once. The link shows these reports and nothing else. Segments in their filters are replaced by the filters that are saved now. Breakdowns by tags or profiles of contacts are refused. Each report has a `to`, unless `moving` is given. An account has at most 100 links that have not ended.',
    paths: ['/report/createShareLink'],
    tokens: editors,
    example: ['viewQuery'],
    refuses: ['unknown_segment'],
    input: shareLink.createShareLinkInput,
    output: shareLink.createShareLinkOutput,
  }),
  listShareLinks: get({
    summary: 'List the share links of the account, newest first, without their secrets.',
    paths: ['/report/listShareLinks'],
    tokens: editors,
    input: shareLink.listShareLinksInput,
    output: shareLink.listShareLinksOutput,
  }),
  revokeShareLink: post({
    summary: 'Revoke a share link. It shows nothing from then on, in open pages too.',
    paths: ['/report/revokeShareLink'],
    tokens: editors,
    refuses: ['unknown_share_link'],
    input: shareLink.revokeShareLinkInput,
    output: shareLink.revokeShareLinkOutput,
  }),
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof operations;
/** The input of an operation, checked and coerced. */
export type InputOf<Name extends OperationName> = z.output<(typeof operations)[Name]['input']>;
/** The request that a client may send, before coercion. */
export type RequestOf<Name extends OperationName> = z.input<(typeof operations)[Name]['input']>;
/** The result of an operation: its response without `status` and `ignored`. */
export type AnswerOf<Name extends OperationName> = Omit<
  z.output<(typeof operations)[Name]['output']>,
  'status' | 'ignored'
>;
export type ResponseOf<Name extends OperationName> = z.output<(typeof operations)[Name]['output']>;

/**
 * Whether an operation takes no POST and so only reads. An unknown parameter is an error in these operations; the others ignore it
 * and list it in `ignored`.
 */
export const isRead = ({ methods }: Operation): boolean => !methods.includes('POST');

export const operationNames = Object.keys(operations) as OperationName[];
