/** Describes audit log entries in words. */
import type { ResponseFor } from '@firsthand/client';
import { nameOfMember } from '../../reading/member-names.ts';

export type AuditEntry = ResponseFor<'listAudit'>['audit'][number];
/** The actions that an account’s log can contain. */
export type AuditAction = Exclude<AuditEntry['action'], 'deleteAccount' | 'copy' | 'backup'>;

export const actionWords: Readonly<Record<AuditAction, string>> = {
  createAccount: 'Account created',
  updateAccount: 'Account changed',
  mergeEntry: 'Catalogue entries merged',
  unmergeEntry: 'Catalogue entries separated',
  createToken: 'Token created',
  revokeToken: 'Token revoked',
  inviteMember: 'Member invited',
  joinMember: 'Invitation accepted',
  updateMember: 'Member role changed',
  removeMember: 'Member removed',
  changePassword: 'Password changed',
  addPasskey: 'Passkey added',
  removePasskey: 'Passkey removed',
  eraseContact: 'Contact erased',
  exportContact: 'Contact exported',
  mergeContact: 'Contacts merged',
  unmergeContact: 'Contacts separated',
  linkUser: 'Browser linked to a contact',
  unlinkUser: 'Browser unlinked',
  voidLink: 'Link ignored',
  acceptClaim: 'Claim accepted',
  voidClaim: 'Claim voided',
  createShareLink: 'Share link created',
  revokeShareLink: 'Share link revoked',
  createWebhook: 'Webhook created',
  updateWebhook: 'Webhook changed',
  rotateWebhookSecret: 'Webhook secret replaced',
  deleteWebhook: 'Webhook deleted',
  createNotification: 'Digest or alert created',
  updateNotification: 'Digest or alert changed',
  deleteNotification: 'Digest or alert deleted',
  createImport: 'File imported',
  undoImport: 'Import undone',
  replayRefused: 'Refused request resent',
  discardRefused: 'Refused request discarded',
};

/** An undo is logged under the same action, with `restore`. */
export const restoringWords: Partial<Record<AuditAction, string>> = {
  voidLink: 'Link restored',
  voidClaim: 'Claim restored',
};

/** The wording if the token is a console session. */
const sessionWords: Partial<Record<AuditAction, string>> = {
  createToken: 'Signed in',
  revokeToken: 'Session ended',
};

export const wordsOf = ({ subject, ...entry }: AuditEntry, isSession = false): string => {
  const action = entry.action as AuditAction;
  if (action === 'updateAccount' && subject.field?.join() === 'contact') return 'Contacts changed';
  if (action === 'updateAccount' && subject.field?.every((name) => catalogues.includes(name)))
    return 'Catalogue changed';
  return (isSession && sessionWords[action]) || (subject.restore && restoringWords[action]) || actionWords[action];
};

const catalogues: readonly string[] = ['profile', 'tag', 'attr', 'event'];

const fieldWords: Readonly<Record<string, string>> = {
  accountName: 'name',
  accountTimezone: 'time zone',
  accountCurrency: 'currency',
  accountOrigin: 'sites',
  strict: 'reject unknown names',
  browserCatalogue: 'let pages add new names',
  enrich: 'detect browser, device and country',
  defaultProfileID: 'default profile',
  userIDIsEmailaddress: 'userId',
  profile: 'profiles',
  tag: 'tags',
  attr: 'attributes',
  event: 'events',
  contact: 'contacts',
};

/**
 * The subject in words, without its contacts. Not capitalized, because it may begin with a name or an e-mail address.
 */
export const detailsOf = ({ subject }: AuditEntry, nameOf: (tokenID: string) => string): string => {
  const { tokenID, tokenKind, memberID, memberRole, shareID, linkID, claimID, refusedID, links, field } = subject;
  const { catalogue, entryID, otherEntryID } = subject;
  const details = [
    catalogue !== undefined && fieldWords[catalogue],
    otherEntryID !== undefined && (entryID === undefined ? otherEntryID : `${otherEntryID} into ${entryID}`),
    tokenID !== undefined && (tokenKind === undefined ? nameOf(tokenID) : `${nameOf(tokenID)} (${tokenKind})`),
    memberID !== undefined && (nameOfMember(memberID) ?? `member ${memberID.slice(0, 6)}`),
    memberRole,
    field?.join() !== 'contact' && field?.map((name) => fieldWords[name] ?? name).join(', '),
    shareID !== undefined && `share link ${shareID.slice(0, 6)}`,
    linkID !== undefined && `link ${linkID}`,
    claimID !== undefined && `claim ${claimID}`,
    refusedID !== undefined && `request ${refusedID}`,
    // Redundant if the entry identifies its only link.
    links !== undefined && !(links === 1 && linkID !== undefined) && `${links} ${links === 1 ? 'link' : 'links'}`,
  ];
  return details.filter(Boolean).join(', ');
};
