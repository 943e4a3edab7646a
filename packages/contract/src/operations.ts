/** The table of operations. The router, the OpenAPI document and the typed client are made from it. */
import type * as z from 'zod';
import * as account from './account.ts';
import * as audit from './audit.ts';
import * as contact from './contact.ts';
import * as event from './event.ts';
import { pageNames } from './identifiers.ts';
import * as link from './link.ts';
import type { TokenKind } from './tokens.ts';

export interface Operation<Input extends z.ZodType = z.ZodType, Output extends z.ZodType = z.ZodType> {
  readonly summary: string;
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
/** The secret kinds of an account's tokens: both read its data, and `server` also writes. */
const readers = ['viewer', 'server'] as const;
const accountEntries = { contact: contact.accountContact };

export const operations = {
  getAccount: get({
    summary: 'Retrieve the account: its catalogues, tokens (not for a viewer token), usage and limits.',
    paths: ['/account/getAccount'],
    tokens: ['viewer', 'server', 'operator'],
    input: account.getAccountInput,
    output: account.getAccountOutput,
  }),
  createAccount: post({
    summary: 'Create an account, with catalogues and contacts.',
    paths: ['/account/createAccount'],
    tokens: ['operator'],
    body: 'batch',
    input: account.createAccountInput,
    entries: accountEntries,
    output: account.createAccountOutput,
  }),
  updateAccount: post({
    summary: 'Change the given fields of an account; add or change catalogue entries and contacts.',
    paths: ['/account/updateAccount'],
    tokens: owners,
    body: 'batch',
    input: account.updateAccountInput,
    entries: accountEntries,
    output: account.updateAccountOutput,
  }),
  createToken: post({
    summary: 'Create a token. The text of a secret token is returned only by this call.',
    paths: ['/account/createToken'],
    tokens: owners,
    input: account.createTokenInput,
    output: account.createTokenOutput,
  }),
  revokeToken: post({
    summary: 'Revoke a token, with descendants=true also every token that it made. They stop working at once.',
    paths: ['/account/revokeToken'],
    tokens: owners,
    input: account.revokeTokenInput,
    output: account.revokeTokenOutput,
  }),
  listAudit: get({
    summary: 'List who did what in the account, newest first.',
    paths: ['/account/listAudit'],
    tokens: owners,
    input: audit.listAuditInput,
    output: audit.listAuditOutput,
  }),
  getContact: get({
    summary: 'Look up a contact with its profile, tags and attributes.',
    paths: ['/contact/getContact', '/subscriber/getSubscriber', `/${pageNames.getContact}`],
    tokens: ['browser', 'viewer', 'server'],
    openToPages: true,
    input: contact.getContactInput,
    output: contact.getContactOutput,
  }),
  createContact: post({
    summary: 'Create a contact, or find it by its e-mail address, and link the user to it.',
    paths: ['/contact/createContact', '/createContact', '/subscriber/createSubscriber', `/${pageNames.createContact}`],
    tokens: pageAndServer,
    openToPages: true,
    input: contact.createContactInput,
    output: contact.createContactOutput,
  }),
  createContacts: post({
    summary: 'Create or find up to 1,000 contacts, each with its own result.',
    paths: ['/contact/createContacts'],
    tokens: server,
    body: 'batch',
    input: contact.createContactsInput,
    entries: { contact: contact.batchContact },
    output: contact.createContactsOutput,
  }),
  updateContact: post({
    summary: 'Change the given fields of a contact.',
    paths: ['/contact/updateContact', '/subscriber/updateSubscriber'],
    tokens: server,
    input: contact.updateContactInput,
    output: contact.updateContactOutput,
  }),
  searchContact: get({
    summary: 'Find contacts by text, e-mail address, profile, tag or status.',
    paths: ['/contact/searchContact'],
    tokens: readers,
    input: contact.searchContactInput,
    output: contact.searchContactOutput,
  }),
  exportContact: post({
    summary: 'Return all data of a contact: its record, claims, links and, page by page, events.',
    paths: ['/contact/exportContact'],
    tokens: server,
    input: contact.exportContactInput,
    output: contact.exportContactOutput,
  }),
  eraseContact: post({
    summary: 'Erase a contact and its events. A repeated call returns the progress.',
    paths: ['/contact/eraseContact'],
    tokens: server,
    input: contact.eraseContactInput,
    output: contact.eraseContactOutput,
  }),
  linkUser: post({
    summary: 'Link a user to a contact from now on.',
    paths: ['/contact/linkUser'],
    tokens: server,
    input: link.linkUserInput,
    output: link.linkUserOutput,
  }),
  unlinkUser: post({
    summary: 'Unlink a user: it is anonymous from now on.',
    paths: ['/contact/unlinkUser'],
    tokens: server,
    input: link.unlinkUserInput,
    output: link.unlinkUserOutput,
  }),
  voidLink: post({
    summary: 'Ignore a link, or all links that a token claimed in a range of time; restore=true undoes it.',
    paths: ['/contact/voidLink'],
    tokens: server,
    input: link.voidLinkInput,
    output: link.voidLinkOutput,
  }),
  acceptClaim: post({
    summary: "Accept a claim: its values become the contact's own, and its link counts as verified.",
    paths: ['/contact/acceptClaim'],
    tokens: server,
    input: link.acceptClaimInput,
    output: link.acceptClaimOutput,
  }),
  voidClaim: post({
    summary: "Ignore a claim's values and its link; restore=true undoes it.",
    paths: ['/contact/voidClaim'],
    tokens: server,
    input: link.voidClaimInput,
    output: link.voidClaimOutput,
  }),
  mergeContact: post({
    summary: 'Merge a contact into another one.',
    paths: ['/contact/mergeContact'],
    tokens: server,
    input: link.mergeContactInput,
    output: link.mergeContactOutput,
  }),
  unmergeContact: post({
    summary: 'Undo a merge.',
    paths: ['/contact/unmergeContact'],
    tokens: server,
    input: link.unmergeContactInput,
    output: link.unmergeContactOutput,
  }),
  logEvent: operation({
    summary: 'Log an event against an anonymous user or a contact.',
    methods: ['POST', 'GET'],
    paths: ['/event/logEvent', '/logEvent', `/${pageNames.logEvent}`],
    tokens: pageAndServer,
    openToPages: true,
    input: event.logEventInput,
    output: event.logEventOutput,
  }),
  logEvents: post({
    summary: 'Log up to 1,000 events in one commit.',
    paths: ['/event/logEvents', `/${pageNames.logEvents}`],
    tokens: pageAndServer,
    openToPages: true,
    body: 'batch',
    input: event.logEventsInput,
    entries: { event: event.batchEvent },
    output: event.logEventsOutput,
  }),
  getEvent: get({
    summary: 'Read events back, newest first unless asked otherwise.',
    paths: ['/event/getEvent'],
    tokens: readers,
    input: event.getEventInput,
    output: event.getEventOutput,
  }),
  countEvents: get({
    summary: 'Count events over time.',
    paths: ['/event/countEvents'],
    tokens: readers,
    input: event.countEventsInput,
    output: event.countEventsOutput,
  }),
  streamEvents: get({
    summary: 'Stream events as they are stored, as server-sent events.',
    paths: ['/event/streamEvents'],
    tokens: readers,
    stream: true,
    input: event.streamEventsInput,
    output: event.event,
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
