/** Links with which people join an account, or sign in again. */
import type { MemberRole } from '@firsthand/contract/account/members';
import type { Config } from '../../config/config.ts';
import { consoleRootURL } from '../../serving/root-url.ts';
import type { AccountSummary, Store } from '../../store/store.ts';
import { asOperator } from './database.ts';
import { toMinute } from './printing.ts';

/** For the link, which leads to the console. */
export const addressSettings = ['consoleOrigin', 'host', 'port', 'basePath'] as const;

interface Invitation {
  readonly invitationURL: string;
  readonly expiresTime: string;
}

interface Invited {
  readonly emailaddress: string;
  /** The role of a new member; one who joined before keeps the present role. */
  readonly role: MemberRole;
  readonly name?: string | undefined;
}

/** Invites a person to an account. A member with this e-mail address chooses a new password or passkey; the old one works until then. */
export const inviteMember = async (
  store: Store,
  { accountUUID }: Pick<AccountSummary, 'accountUUID'>,
  { emailaddress, role, name }: Invited,
  address: Pick<Config, (typeof addressSettings)[number]>,
) => {
  const { createMembers } = await import('../../http/operations/accounts/members.ts');
  const invited = { accountUUID, memberEmailaddress: emailaddress, memberRole: role, memberName: name };
  const invitation = await createMembers(store).inviteMember(invited, asOperator());
  return { ...invitation, invitationURL: `${consoleRootURL(address)}/console/join#code=${invitation.invitationCode}` };
};

/** Explains the link to the person who may hand it on. */
export const invitationLines = (emailaddress: string, { invitationURL, expiresTime }: Invitation): string[] => [
  `With this link ${emailaddress} chooses a password or makes a passkey, once, until ${toMinute(expiresTime)}:`,
  '',
  invitationURL,
  '',
  'Whoever has the link can take it, so send it to that person only.',
];
