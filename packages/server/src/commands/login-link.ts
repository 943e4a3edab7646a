import { roleOf } from '@firsthand/contract/account/members';
import type { Command } from 'commander';
import { parseAddress } from '../identity/email-address.ts';
import type { Member } from '../store/store.ts';
import { WrongUsage } from './shared/command-errors.ts';
import { type AccountOptions, addDatabase, chosenAccount, withStore } from './shared/database.ts';
import { addSettings, settingsOf } from './shared/flags.ts';
import { addressSettings, invitationLines, inviteMember } from './shared/invitations.ts';
import { printJSON, printLine } from './shared/printing.ts';

export const define = (command: Command): void => {
  addSettings(addDatabase(command), addressSettings)
    .argument('[e-mail]', 'who signs in; the only owner if not given. An unknown person becomes an owner')
    .option('--account <accountUUID>', 'the account; the only one if there is no other')
    .action(printLink);
};

/** The e-mail address of the only owner. Throws WrongUsage if there is none or a choice. */
const onlyOwner = (members: readonly Member[]): string => {
  const owners = members.filter(({ kind }) => roleOf(kind) === 'owner').map(({ emailaddress }) => emailaddress);
  const [owner] = owners;
  if (owner !== undefined && owners.length === 1) return owner;
  throw new WrongUsage(
    owner === undefined
      ? 'the account has no owner yet: give your e-mail address, as in firsthand login-link you@shop.example'
      : `the account has several owners, so give the e-mail address of one: ${owners.join(', ')}`,
  );
};

const printLink = async (given: string | undefined, options: AccountOptions): Promise<void> => {
  const { emailaddress, ...invitation } = await withStore(options, async (store) => {
    const account = await chosenAccount(store, options);
    const members = await store.listMembers(account);
    const emailaddress = given ?? onlyOwner(members);
    const member = members.find((each) => each.emailaddress === parseAddress(emailaddress));
    const role = member === undefined ? 'owner' : roleOf(member.kind);
    const address = settingsOf(addressSettings, options);
    return { emailaddress, ...(await inviteMember(store, account, { emailaddress, role }, address)) };
  });
  if (options.json) return printJSON({ ...invitation, status: '200' });
  printLine(invitationLines(emailaddress, invitation));
  // The command reads the database, which does not know where a server listens.
  printLine([
    '',
    'The link uses CONSOLE_ORIGIN, or HOST, PORT and BASE_PATH without it. If it does not open, set them as for the server.',
  ]);
};
