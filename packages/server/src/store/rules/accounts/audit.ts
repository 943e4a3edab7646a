/** The audit entries for each store write. */
import { roleOf } from '@firsthand/contract/account/members';
import type { AuditRecord, RequestOf, Store } from '../../store.ts';

type ResultOf<Name extends keyof Store> = Awaited<ReturnType<Store[Name]>>;

/** The default action is the write's name. `account`, `by` and `time` default to the request's. */
type Entry = Pick<AuditRecord, 'subject'> & Partial<AuditRecord>;

type EntryBuilder<Name extends keyof Store> = (request: RequestOf<Name>, result: ResultOf<Name>) => Entry[];

const requestMetadata: readonly string[] = ['account', 'by', 'time'];

/** Returns the names of the fields that a request sets. */
const updatedFields = ({ catalogues, contacts, ...settings }: RequestOf<'updateAccount'>): string[] => {
  const fields = { ...settings, ...catalogues, contact: contacts.length > 0 ? contacts : undefined };
  return Object.entries(fields).flatMap(([name, value]) =>
    value === undefined || requestMetadata.includes(name) ? [] : name,
  );
};

const entryBuilders = {
  createAccount: ({ accountUUID, tokens }) => [
    { subject: {}, accountUUID },
    ...tokens.map(({ tokenID, kind }): Entry => {
      return { action: 'createToken', subject: { tokenID, tokenKind: kind }, accountUUID };
    }),
  ],
  updateAccount: (request) => [{ subject: { field: updatedFields(request) } }],
  mergeEntry: ({ kind, id, otherID }) => [{ subject: { catalogue: kind, entryID: id, otherEntryID: otherID } }],
  unmergeEntry: ({ kind, otherID }) => [{ subject: { catalogue: kind, otherEntryID: otherID } }],
  // Has no account, because the account's own log is deleted with it.
  deleteAccount: (_, { accountUUID, isGone }) => (isGone ? [{ subject: { accountUUID }, account: null }] : []),
  createToken: ({ tokenID, kind, createdBy = null }) => [{ subject: { tokenID, tokenKind: kind }, by: createdBy }],
  // Adds no second entry if the token was revoked before.
  revokeToken: ({ tokenID, time }, { revokedTime, descendants }) => [
    ...(revokedTime === time ? [{ subject: { tokenID } }] : []),
    ...descendants.map((each) => ({ subject: { tokenID: each }, account: null, accountOf: each })),
  ],
  inviteMember: (_, { memberID, kind }) => [{ subject: { memberID, memberRole: roleOf(kind) } }],
  joinMember: ({ passkey }, { account, memberID, access }) => {
    const by = { account, by: access.token };
    const added: Entry[] = passkey
      ? [{ action: 'addPasskey', subject: { memberID, passkeyID: passkey.passkeyID }, ...by }]
      : [];
    return [{ subject: { memberID }, ...by }, ...added];
  },
  updateMember: ({ memberID, kind }) => [{ subject: { memberID, memberRole: roleOf(kind) } }],
  removeMember: ({ memberID }, { tokens, shareLinks }) => [
    { subject: { memberID } },
    ...tokens.map((tokenID): Entry => ({ action: 'revokeToken', subject: { tokenID } })),
    ...shareLinks.map((shareID): Entry => ({ action: 'revokeShareLink', subject: { shareID } })),
  ],
  changePassword: ({ memberID }) => [{ subject: { memberID } }],
  addPasskey: ({ memberID, passkey: { passkeyID } }) => [{ subject: { memberID, passkeyID } }],
  removePasskey: ({ memberID, passkeyID }) => [{ subject: { memberID, passkeyID } }],
  createWebhook: ({ webhookID }) => [{ subject: { webhookID } }],
  updateWebhook: ({ webhookID, changes }) => [{ subject: { webhookID, field: Object.keys(changes) } }],
  rotateWebhookSecret: ({ webhookID }) => [{ subject: { webhookID } }],
  deleteWebhook: ({ webhookID }) => [{ subject: { webhookID } }],
  createNotification: ({ notificationID }) => [{ subject: { notificationID } }],
  updateNotification: ({ notificationID, changes }) => [{ subject: { notificationID, field: Object.keys(changes) } }],
  deleteNotification: ({ notificationID }) => [{ subject: { notificationID } }],
  createShareLink: ({ shareID }) => [{ subject: { shareID } }],
  revokeShareLink: ({ shareID }) => [{ subject: { shareID } }],
  // Adds no entry for a repeated request, which only returns the progress.
  eraseContact: ({ time }, { contactUUID, erasedTime }) => (erasedTime === time ? [{ subject: { contactUUID } }] : []),
  linkUser: ({ token }, { contactUUID, linkID }) => [{ subject: { contactUUID, linkID }, by: token }],
  unlinkUser: ({ token }, { linkID }) => (linkID === '' ? [] : [{ subject: { linkID }, by: token }]),
  voidLinks: ({ links, restore }, changed) => {
    const selection = 'linkID' in links ? { linkID: links.linkID } : { tokenID: links.tokenID };
    return [{ action: 'voidLink', subject: { ...selection, links: changed, restore } }];
  },
  acceptClaim: ({ claimID }, { contactUUID }) => [{ subject: { claimID, contactUUID } }],
  voidClaim: ({ claimID, restore }, { contactUUID }) => [{ subject: { claimID, contactUUID, restore } }],
  mergeContact: (_, { contactUUID, otherContactUUID }) => [{ subject: { contactUUID, otherContactUUID } }],
  unmergeContact: (_, { contactUUID }) => [{ subject: { otherContactUUID: contactUUID } }],
  // Adds no entry for a repeated request, which continues the import or returns the progress.
  createImport: ({ importID }, created) => (created.importID === importID ? [{ subject: { importID } }] : []),
  undoImport: ({ importID, time }, { undoneTime }) => (undoneTime === time ? [{ subject: { importID } }] : []),
  discardRefused: ({ refused }, wasListed) => (wasListed ? [{ subject: { refusedID: String(refused) } }] : []),
  replayRefused: ({ refused, tokenID, request: { account } }, result) => {
    const subject = { refusedID: String(refused), ...(tokenID !== undefined && { tokenID }) };
    return result === undefined ? [] : [{ subject, account, time: Date.now() }];
  },
} as const satisfies { readonly [Name in keyof Store]?: EntryBuilder<Name> };

export type AuditedName = keyof typeof entryBuilders;
export const auditedNames = Object.keys(entryBuilders) as AuditedName[];
export const isAudited = (name: string): name is AuditedName => Object.hasOwn(entryBuilders, name);

/** Returns a write's entries, from its request and its result. */
export const toAuditRecords = (name: AuditedName, request: unknown, result: unknown): AuditRecord[] => {
  const { account, by = null, time } = request as Pick<AuditRecord, 'account' | 'time'> & Partial<AuditRecord>;
  // Safe: each builder takes the request and result of the write it is named after.
  const entries = (entryBuilders[name] as (request: unknown, result: unknown) => Entry[])(request, result);
  return entries.map((entry) => ({ action: name as AuditRecord['action'], account, by, time, ...entry }));
};
