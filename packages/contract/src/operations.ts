/** Every operation, once: the router, the OpenAPI document and the typed client are made from this table. */
import type * as z from 'zod';
import * as account from './account.ts';
import * as audit from './audit.ts';
import * as contact from './contact.ts';
import * as event from './event.ts';
import * as link from './link.ts';
import type { TokenKind } from './tokens.ts';

export interface Operation<Input extends z.ZodType = z.ZodType, Output extends z.ZodType = z.ZodType> {
  readonly summary: string;
  /** The first one is what the typed client uses; likewise the first path. */
  readonly methods: readonly ['GET' | 'POST', ...('GET' | 'POST')[]];
  readonly paths: readonly [`/${string}`, ...`/${string}`[]];
  readonly tokens: readonly TokenKind[];
  /** May pages of any origin read the answer? */
  readonly openToPages?: true;
  /** What a body may weigh; 64 KiB unless said. */
  readonly body?: 'batch';
  /** The answer is a stream of server-sent events, each holding one `output`. */
  readonly stream?: true;
  /** The fields besides tokenUUID. */
  readonly input: Input;
  /** Lists of the input whose entries are checked one by one, so that a bad one does not refuse the others. */
  readonly entries?: Readonly<Record<string, z.ZodType>>;
  readonly output: Output;
}

const operation = <Input extends z.ZodType, Output extends z.ZodType>(definition: Operation<Input, Output>) =>
  definition;

const post = ['POST'] as const;
const get = ['GET'] as const;
const server = ['server'] as const;
const owners = ['server', 'operator'] as const;
const pageAndServer = ['browser', 'server'] as const;
/** The kinds that read an account's data and change nothing, and the one that does both. */
const readers = ['viewer', 'server'] as const;
const accountEntries = { contact: contact.accountContact };

export const operations = {
  getAccount: operation({
    summary: 'Retrieve the account: its catalogues, tokens (not for a viewer token), usage and limits.',
    methods: get,
    paths: ['/account/getAccount'],
    tokens: ['viewer', 'server', 'operator'],
    input: account.getAccountInput,
    output: account.getAccountOutput,
  }),
  createAccount: operation({
    summary: 'Create an account, with catalogues and contacts.',
    methods: post,
    paths: ['/account/createAccount'],
    tokens: ['operator'],
    body: 'batch',
    input: account.createAccountInput,
    entries: accountEntries,
    output: account.createAccountOutput,
  }),
  updateAccount: operation({
    summary: 'Change the fields of an account that are given; catalogue entries and contacts are added or changed.',
    methods: post,
    paths: ['/account/updateAccount'],
    tokens: owners,
    body: 'batch',
    input: account.updateAccountInput,
    entries: accountEntries,
    output: account.updateAccountOutput,
  }),
  createToken: operation({
    summary: 'Create a token. A secret one is shown this once.',
    methods: post,
    paths: ['/account/createToken'],
    tokens: owners,
    input: account.createTokenInput,
    output: account.createTokenOutput,
  }),
  revokeToken: operation({
    summary: 'Revoke a token, with descendants=true also every token that it made. They stop working at once.',
    methods: post,
    paths: ['/account/revokeToken'],
    tokens: owners,
    input: account.revokeTokenInput,
    output: account.revokeTokenOutput,
  }),
  listAudit: operation({
    summary: 'List who did what in the account, newest first.',
    methods: get,
    paths: ['/account/listAudit'],
    tokens: owners,
    input: audit.listAuditInput,
    output: audit.listAuditOutput,
  }),
  getContact: operation({
    summary: 'Look up a contact with its profile, tags and attributes.',
    methods: get,
    paths: ['/contact/getContact', '/subscriber/getSubscriber'],
    tokens: ['browser', 'viewer', 'server'],
    openToPages: true,
    input: contact.getContactInput,
    output: contact.getContactOutput,
  }),
  createContact: operation({
    summary: 'Create a contact, or find it by its e-mail address, and link the user to it.',
    methods: post,
    paths: ['/contact/createContact', '/createContact', '/subscriber/createSubscriber'],
    tokens: pageAndServer,
    openToPages: true,
    input: contact.createContactInput,
    output: contact.createContactOutput,
  }),
  updateContact: operation({
    summary: 'Change the fields of a contact that are given.',
    methods: post,
    paths: ['/contact/updateContact', '/subscriber/updateSubscriber'],
    tokens: server,
    input: contact.updateContactInput,
    output: contact.updateContactOutput,
  }),
  searchContact: operation({
    summary: 'Find contacts by text, e-mail address, profile, tag or status.',
    methods: get,
    paths: ['/contact/searchContact'],
    tokens: readers,
    input: contact.searchContactInput,
    output: contact.searchContactOutput,
  }),
  exportContact: operation({
    summary: 'All that is held about a contact: record, claims, links and, page by page, events.',
    methods: post,
    paths: ['/contact/exportContact'],
    tokens: server,
    input: contact.exportContactInput,
    output: contact.exportContactOutput,
  }),
  eraseContact: operation({
    summary: 'Erase a contact and its events. Asked again, it answers how far that is.',
    methods: post,
    paths: ['/contact/eraseContact'],
    tokens: server,
    input: contact.eraseContactInput,
    output: contact.eraseContactOutput,
  }),
  linkUser: operation({
    summary: 'State that a user is a contact from here on.',
    methods: post,
    paths: ['/contact/linkUser'],
    tokens: server,
    input: link.linkUserInput,
    output: link.linkUserOutput,
  }),
  unlinkUser: operation({
    summary: 'State that a user is nobody known from here on.',
    methods: post,
    paths: ['/contact/unlinkUser'],
    tokens: server,
    input: link.unlinkUserInput,
    output: link.unlinkUserOutput,
  }),
  voidLink: operation({
    summary: 'Ignore a link, or all that a token claimed in a span of time; restore=true takes that back.',
    methods: post,
    paths: ['/contact/voidLink'],
    tokens: server,
    input: link.voidLinkInput,
    output: link.voidLinkOutput,
  }),
  acceptClaim: operation({
    summary: "Count a claim's values as the contact's own and its link as verified.",
    methods: post,
    paths: ['/contact/acceptClaim'],
    tokens: server,
    input: link.acceptClaimInput,
    output: link.acceptClaimOutput,
  }),
  voidClaim: operation({
    summary: "Ignore a claim's values and its link; restore=true takes that back.",
    methods: post,
    paths: ['/contact/voidClaim'],
    tokens: server,
    input: link.voidClaimInput,
    output: link.voidClaimOutput,
  }),
  mergeContact: operation({
    summary: 'Let one contact answer for another as well.',
    methods: post,
    paths: ['/contact/mergeContact'],
    tokens: server,
    input: link.mergeContactInput,
    output: link.mergeContactOutput,
  }),
  unmergeContact: operation({
    summary: 'Take a merge back, exactly.',
    methods: post,
    paths: ['/contact/unmergeContact'],
    tokens: server,
    input: link.unmergeContactInput,
    output: link.unmergeContactOutput,
  }),
  logEvent: operation({
    summary: 'Log an event against an anonymous user or a contact.',
    methods: ['POST', 'GET'],
    paths: ['/event/logEvent', '/logEvent'],
    tokens: pageAndServer,
    openToPages: true,
    input: event.logEventInput,
    output: event.logEventOutput,
  }),
  logEvents: operation({
    summary: 'Log up to 1,000 events in one commit.',
    methods: post,
    paths: ['/event/logEvents'],
    tokens: pageAndServer,
    openToPages: true,
    body: 'batch',
    input: event.logEventsInput,
    entries: { event: event.batchEvent },
    output: event.logEventsOutput,
  }),
  getEvent: operation({
    summary: 'Read events back, newest first unless asked otherwise.',
    methods: get,
    paths: ['/event/getEvent'],
    tokens: readers,
    input: event.getEventInput,
    output: event.getEventOutput,
  }),
  countEvents: operation({
    summary: 'Count events over time.',
    methods: get,
    paths: ['/event/countEvents'],
    tokens: readers,
    input: event.countEventsInput,
    output: event.countEventsOutput,
  }),
  streamEvents: operation({
    summary: 'Follow events as they are kept, as server-sent events.',
    methods: get,
    paths: ['/event/streamEvents'],
    tokens: readers,
    stream: true,
    input: event.streamEventsInput,
    output: event.event,
  }),
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof operations;
/** What an operation is given, once checked. */
export type InputOf<Name extends OperationName> = z.output<(typeof operations)[Name]['input']>;
/** What a client may send. */
export type RequestOf<Name extends OperationName> = z.input<(typeof operations)[Name]['input']>;
/** What an operation answers, `status` aside. */
export type AnswerOf<Name extends OperationName> = Omit<
  z.output<(typeof operations)[Name]['output']>,
  'status' | 'ignored'
>;
export type ResponseOf<Name extends OperationName> = z.output<(typeof operations)[Name]['output']>;

/** Whether an operation only reads: then a parameter that it does not know is an error, and not ignored. */
export const isRead = ({ methods }: Operation): boolean => !methods.includes('POST');

export const operationNames = Object.keys(operations) as OperationName[];
