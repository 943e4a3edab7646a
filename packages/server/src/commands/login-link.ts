import { roleOf } from '@firsthand/contract/account/members';
import type { Command } from 'commander';
import { parseAddress } from '../identity/email-address.ts';
import type { Member } from '../store/store.ts';
import { UsageError } from './shared/command-errors.ts';
import { type AccountOptions, addDatabase, chooseAccount, withStore } from './shared/database.ts';
import { addSettings, toSettings } from './shared/flags.ts';
import { addressSettings, formatInvitation, inviteMember } from './shared/invitations.ts';
import { printJSON, printLine } from './shared/printing.ts';

export const define = (command: Command): void => {
  addSettings(addDatabase(command), addressSettings)
    .argument(
      '[e-mail]',
      "the e-mail address of the person who signs in; by default, the only owner's; a new person becomes an owner",
    )
    .option('--account <accountUUID>', 'the account; required if there are several')
    .action(printLink);
};

/** The e-mail address of the only owner. Throws UsageError unless there is exactly one. */
const findOnlyOwner = (members: readonly Member[]): string => {
  const owners = members.filter(({ kind }) => roleOf(kind) === 'owner').map(({ emailaddress }) => emailaddress);
  const [owner] = owners;
  if (owner !== undefined && owners.length === 1) return owner;
  throw new UsageError(
    owner === undefined
      ? 'the account has no owner yet: give your e-mail address, as in firsthand login-link you@shop.example'
      : `the account has several owners: give the e-mail address of one: ${owners.join(', ')}`,
  );
};

const printLink = async (requested: string | undefined, options: AccountOptions): Promise<void> => {
  const { emailaddress, ...invitation } = await withStore(options, async (store) => {
    const account = await chooseAccount(store, options);
    const members = await store.listMembers(account);
    const emailaddress = requested ?? findOnlyOwner(members);
    const member = members.find((each) => each.emailaddress === parseAddress(emailaddress));
    const role = member === undefined ? 'owner' : roleOf(member.kind);
    const address = toSettings(addressSettings, options);
    return { emailaddress, ...(await inviteMember(store, account, { emailaddress, role }, address)) };
  });
  if (options.json) return printJSON({ ...invitation, status: '200' });
  printLine(formatInvitation(emailaddress, invitation));
  // The database does not store where a server listens.
  printLine([
    '',
    "The link uses CONSOLE_ORIGIN, or else HOST, PORT and BASE_PATH. If it does not open, set them to the server's values.",
  ]);
};
