/** The store operations that are written once for both databases. Other operations are in each driver's folder. */
import type { RequestOf, Store } from '../store.ts';
import { findAccount, listAccounts } from './accounts.ts';
import { claimAudience, listAudienceContacts, listAudiences, listDueAudiences, recordComparison } from './audiences.ts';
import { listAudit, recordAudit } from './audit.ts';
import { listCatalogue } from './catalogues.ts';
import { deleteExpired } from './expiry.ts';
import { listFacts } from './facts.ts';
import { createGoal, deleteGoal, listGoals, updateGoal } from './goals.ts';
import { createImport, listImports } from './imports.ts';
import {
  changePassword,
  findInvitation,
  findMembers,
  inviteMember,
  joinMember,
  listMembers,
  recordKnownNetwork,
  removeMember,
  updateMember,
} from './members.ts';
import { listMergedContacts } from './merged-contacts.ts';
import { createNote, deleteNote, listNotes } from './notes.ts';
import {
  claimMail,
  claimNotification,
  confirmMember,
  createNotification,
  deleteNotification,
  listDueMails,
  listDueNotifications,
  listNotifications,
  recordMail,
  setRecipient,
  updateNotification,
} from './notifications.ts';
import type { Operation } from './operation.ts';
import { addPasskey, findPasskey, getDatabaseKey, listPasskeys, removePasskey, usePasskey } from './passkeys.ts';
import { deleteSegment, listSegments, saveSegment } from './segments.ts';
import { createShareLink, findShareLink, listShareLinks, recordShareLinkUse, revokeShareLink } from './share-links.ts';
import { createToken, findProofKeys, listTokens, recordTokenUses, revokeToken } from './tokens.ts';
import { findUnknownProxy, recordUnknownProxy } from './unknown-proxy.ts';
import { deleteView, listViews, saveView } from './views.ts';
import {
  createWebhook,
  deleteWebhook,
  leaseWebhook,
  listDeliveries,
  listWebhooks,
  recordDeliveries,
  resendDeliveries,
  rotateWebhookSecret,
  updateWebhook,
} from './webhooks.ts';

type OperationsOf<Name extends keyof Store> = {
  readonly [Each in Name]: (request: RequestOf<Each>) => Operation<Awaited<ReturnType<Store[Each]>>>;
};

const writes = {
  deleteExpired,
  recordAudit,
  createToken,
  revokeToken,
  recordTokenUses,
  inviteMember,
  joinMember,
  updateMember,
  removeMember,
  changePassword,
  recordKnownNetwork,
  addPasskey,
  removePasskey,
  usePasskey,
  saveSegment,
  deleteSegment,
  saveView,
  deleteView,
  createGoal,
  updateGoal,
  deleteGoal,
  createNote,
  deleteNote,
  createShareLink,
  revokeShareLink,
  recordShareLinkUse,
  recordUnknownProxy,
  createImport,
  createWebhook,
  updateWebhook,
  rotateWebhookSecret,
  deleteWebhook,
  leaseWebhook,
  recordDeliveries,
  resendDeliveries,
  claimAudience,
  recordComparison,
  createNotification,
  updateNotification,
  deleteNotification,
  setRecipient,
  confirmMember,
  claimNotification,
  claimMail,
  recordMail,
};
export type SharedWrite = keyof typeof writes;
export const sharedWrites: OperationsOf<SharedWrite> = writes;

const reads = {
  findAccount,
  listAccounts,
  listCatalogue,
  listAudit,
  listTokens,
  findProofKeys,
  findInvitation,
  findMembers,
  listMembers,
  getDatabaseKey,
  listPasskeys,
  findPasskey,
  listSegments,
  listViews,
  listGoals,
  listNotes,
  listShareLinks,
  findShareLink,
  findUnknownProxy,
  listMergedContacts,
  listImports,
  listWebhooks,
  listFacts,
  listDeliveries,
  listAudiences,
  listDueAudiences,
  listAudienceContacts,
  listNotifications,
  listDueNotifications,
  listDueMails,
};
export type SharedRead = keyof typeof reads;
export const sharedReads: OperationsOf<SharedRead> = reads;

/** Returns the operations' names. */
export const namesOf = <Name extends keyof Store>(operations: OperationsOf<Name>): Name[] =>
  Object.keys(operations) as Name[];

/** Maps each operation to a function with the same name. */
export const mapOperations = <Mapped, Each = (request: never) => Operation<unknown>>(
  operations: Readonly<Record<string, Each>>,
  map: (operation: Each, name: string) => unknown,
): Mapped =>
  // Safe: `OperationsOf` ties each operation's type to the Store function of the same name.
  Object.fromEntries(Object.entries(operations).map(([name, operation]) => [name, map(operation, name)])) as Mapped;
