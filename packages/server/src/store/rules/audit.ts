/** The audit entries of each write of the store, for both drivers. */
import type { AuditRecord, Store } from '../store.ts';

type RequestOf<Name extends keyof Store> = Parameters<Store[Name]>[0];
type AnswerOf<Name extends keyof Store> = Awaited<ReturnType<Store[Name]>>;

type Recording<Name extends keyof Store> = (request: RequestOf<Name>, answer: AnswerOf<Name>) => AuditRecord[];

const updatedFields = ({
  account: _,
  by: __,
  time: ___,
  catalogues,
  contacts,
  ...settings
}: RequestOf<'updateAccount'>): string[] => [
  ...Object.entries({ ...settings, ...catalogues }).flatMap(([name, value]) => (value === undefined ? [] : name)),
  ...(contacts.length > 0 ? ['contact'] : []),
];

const recordings = {
  createAccount: ({ accountUUID, tokens, by = null, time }) => [
    { action: 'createAccount', subject: {}, accountUUID, by, time },
    ...tokens.map(
      ({ tokenID, kind }): AuditRecord => ({
        action: 'createToken',
        subject: { tokenID, tokenKind: kind },
        accountUUID,
        by,
        time,
      }),
    ),
  ],
  updateAccount: (request) => {
    const { account, by = null, time } = request;
    return [{ action: 'updateAccount', subject: { field: updatedFields(request) }, account, by, time }];
  },
  createToken: ({ account, tokenID, kind, createdBy = null, time }) => [
    { action: 'createToken', subject: { tokenID, tokenKind: kind }, account, by: createdBy, time },
  ],
  // A token that was revoked earlier gets no second entry.
  revokeToken: ({ account, tokenID, by = null, time }, { revokedTime, descendants }) => [
    ...(revokedTime === time ? [{ action: 'revokeToken', subject: { tokenID }, account, by, time } as const] : []),
    ...descendants.map(
      (made): AuditRecord => ({ action: 'revokeToken', subject: { tokenID: made }, accountOf: made, by, time }),
    ),
  ],
  // A repeated request only returns the progress.
  eraseContact: ({ account, by = null, time }, { contactUUID, erasedTime }) =>
    erasedTime === time ? [{ action: 'eraseContact', subject: { contactUUID }, account, by, time }] : [],
  linkUser: ({ account, token, contactUUID, time }, { linkID }) => [
    { action: 'linkUser', subject: { contactUUID, linkID }, account, by: token, time },
  ],
  unlinkUser: ({ account, token, time }, { linkID }) =>
    linkID === '' ? [] : [{ action: 'unlinkUser', subject: { linkID }, account, by: token, time }],
  voidLinks: ({ account, links, restore, by = null, time = Date.now() }, changed) => [
    {
      action: 'voidLink',
      subject: {
        ...('linkID' in links ? { linkID: links.linkID } : { tokenID: links.tokenID }),
        links: changed,
        restore,
      },
      account,
      by,
      time,
    },
  ],
  acceptClaim: ({ account, claimID, by = null, time }, { contactUUID }) => [
    { action: 'acceptClaim', subject: { claimID, contactUUID }, account, by, time },
  ],
  voidClaim: ({ account, claimID, restore, by = null, time }, { contactUUID }) => [
    { action: 'voidClaim', subject: { claimID, contactUUID, restore }, account, by, time },
  ],
  mergeContact: ({ account, otherContactUUID, by = null, time }, { contactUUID }) => [
    { action: 'mergeContact', subject: { contactUUID, otherContactUUID }, account, by, time },
  ],
  unmergeContact: ({ account, otherContactUUID, by = null, time = Date.now() }) => [
    { action: 'unmergeContact', subject: { otherContactUUID }, account, by, time },
  ],
  replayRefused: ({ refused, tokenID, request, by = null, replayedTime }, answer) =>
    answer === undefined
      ? []
      : [
          {
            action: 'replayRefused',
            subject: { refusedID: String(refused), ...(tokenID !== undefined && { tokenID }) },
            account: request.account,
            by,
            time: replayedTime ?? Date.now(),
          },
        ],
} as const satisfies { readonly [Name in keyof Store]?: Recording<Name> };

export type AuditedName = keyof typeof recordings;
export const auditedNames = Object.keys(recordings) as AuditedName[];

/** Returns the entries of a write, from its request and its result. */
export const recordsOf = (name: AuditedName, request: unknown, answer: unknown): AuditRecord[] =>
  // The parameters of each recording are the request and the result of the write of the same name.
  (recordings[name] as (request: unknown, answer: unknown) => AuditRecord[])(request, answer);
