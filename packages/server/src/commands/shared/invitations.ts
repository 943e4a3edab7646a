/** Links for joining an account, or for signing in again. */
import type { MemberRole } from '@firsthand/contract/account/members';
import type { Config } from '../../config/config.ts';
import { consoleRootURL } from '../../serving/root-url.ts';
import type { AccountSummary, Store } from '../../store/store.ts';
import { asOperator } from './database.ts';
import { toMinute } from './printing.ts';

/** The settings that determine the link's address. */
export const addressSettings = ['consoleOrigin', 'host', 'port', 'basePath'] as const;

interface Invitation {
  readonly invitationURL: string;
  readonly expiresTime: string;
}

interface Invitee {
  readonly emailaddress: string;
  /** The role of a new member. An existing member keeps the current role. */
  readonly role: MemberRole;
  readonly name?: string | undefined;
}

/** Invites a person to an account. An existing member sets a new password or passkey; the old one works until then. */
export const inviteMember = async (
  store: Store,
  { accountUUID }: Pick<AccountSummary, 'accountUUID'>,
  { emailaddress, role, name }: Invitee,
  address: Pick<Config, (typeof addressSettings)[number]>,
) => {
  const { createMembers } = await import('../../http/operations/accounts/members.ts');
  const input = { accountUUID, memberEmailaddress: emailaddress, memberRole: role, memberName: name };
  const invitation = await createMembers(store).inviteMember(input, asOperator());
  return { ...invitation, invitationURL: `${consoleRootURL(address)}/console/join#code=${invitation.invitationCode}` };
};

/** The link, with instructions for the person who passes it on. */
export const formatInvitation = (emailaddress: string, { invitationURL, expiresTime }: Invitation): string[] => [
  `With this one-time link, ${emailaddress} chooses a password or creates a passkey, until ${toMinute(expiresTime)}:`,
  '',
  invitationURL,
  '',
  'Anyone with the link can use it, so send it only to that person.',
];
