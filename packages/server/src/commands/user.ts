/** The people who may sign in to the console; the API calls them members, because a user is a browser there. */
import { type MemberRole, memberRoles, roleKinds } from '@firsthand/contract/account/members';
import { type Command, Option } from 'commander';
import { parseAddress } from '../identity/email-address.ts';
import type { Store } from '../store/store.ts';
import { type AccountOptions, accountOf, addDatabase, chosenAccount, withStore } from './shared/database.ts';
import { addSettings, settingsOf } from './shared/flags.ts';
import { addressSettings, invitationLines, inviteMember } from './shared/invitations.ts';
import { printJSON, printLine, toMinute, toTable } from './shared/printing.ts';

const roleOption = () =>
  new Option('--role <role>', 'viewer reads; editor also changes contacts and catalogues; owner does everything')
    .choices(memberRoles)
    .makeOptionMandatory();

export const define = (command: Command): void => {
  const inviting = command
    .command('invite <e-mail>')
    .description('invite a person, also for a new password or passkey');
  addSettings(addDatabase(inviting), addressSettings)
    .addOption(roleOption())
    .option('--account <accountUUID>', 'the account; the only one if there is no other')
    .option('--name <name>', 'the name of the person, who may change it')
    .action(invite);
  addDatabase(command.command('list').description('list those who may sign in, and those who are invited'))
    .option('--account <accountUUID>', 'only of this account')
    .action(list);
  addDatabase(command.command('role <e-mail>').description('change the role of a person, in open sessions too'))
    .addOption(roleOption())
    .option('--account <accountUUID>', 'the account; the only one if there is no other')
    .action(changeRole);
  addDatabase(command.command('remove <e-mail>').description('remove a person: open sessions end at once'))
    .option('--account <accountUUID>', 'the account; the only one if there is no other')
    .option('--descendants', 'also revoke the secret tokens, share links and open invitations that the person made')
    .action(remove);
};

type Options = AccountOptions;

/** Works on the member of the chosen account that has this e-mail address. */
const withMember = async <Result>(
  emailaddress: string,
  options: Options,
  work: (store: Store, found: { readonly account: number; readonly memberID: string }) => Promise<Result>,
): Promise<Result> =>
  withStore(options, async (store) => {
    const { account, accountName } = await chosenAccount(store, options);
    const members = await store.listMembers({ account });
    const member = members.find((each) => each.emailaddress === parseAddress(emailaddress));
    if (member === undefined)
      throw new Error(`nobody with the e-mail address ${emailaddress} may sign in to ${accountName}`);
    return work(store, { account, memberID: member.memberID });
  });

const invite = async (
  emailaddress: string,
  options: Options & { readonly role: MemberRole; readonly name?: string },
): Promise<void> => {
  const { role, name } = options;
  const invitation = await withStore(options, async (store) =>
    inviteMember(
      store,
      await chosenAccount(store, options),
      { emailaddress, role, name },
      settingsOf(addressSettings, options),
    ),
  );
  if (options.json) return printJSON({ ...invitation, status: '200' });
  printLine(invitationLines(emailaddress, invitation));
};

const changeRole = async (emailaddress: string, options: Options & { readonly role: MemberRole }): Promise<void> => {
  const { role } = options;
  const { memberID } = await withMember(emailaddress, options, async (store, found) => {
    await store.updateMember({ ...found, kind: roleKinds[role], time: Date.now() });
    return found;
  });
  if (options.json) return printJSON({ memberID, memberRole: role, status: '200' });
  printLine(`${emailaddress} is ${role} now, in open sessions too`);
};

const remove = async (emailaddress: string, options: Options & { readonly descendants?: boolean }): Promise<void> => {
  const { descendants } = options;
  const { memberID, tokens, shareLinks } = await withMember(emailaddress, options, async (store, found) => ({
    ...found,
    ...(await store.removeMember({ ...found, descendants, time: Date.now() })),
  }));
  if (options.json)
    return printJSON({ memberID, ...(descendants && { descendants: tokens, shareLinks }), status: '200' });
  printLine(`${emailaddress} can no longer sign in; open sessions have ended`);
  for (const tokenID of tokens) printLine(`${tokenID}, which the person created, was revoked too`);
  for (const shareID of shareLinks) printLine(`${shareID}, a share link of the person, was revoked too`);
};

const list = async (options: Options): Promise<void> => {
  const listed = await withStore(options, async (store) => {
    const named = await accountOf(store, options);
    const accounts = (await store.listAccounts()).filter(({ account }) => named === undefined || account === named);
    return Promise.all(
      accounts.map(async ({ account, accountUUID, accountName }) => ({
        ...{ accountUUID, accountName },
        members: await store.listMembers({ account }),
      })),
    );
  });
  const { memberAnswer } = await import('../http/operations/accounts/members.ts');
  const members = listed.flatMap(({ members, ...account }) =>
    members.map((member) => ({ ...account, ...memberAnswer(member, Date.now()) })),
  );
  if (options.json) return printJSON(members.map(({ accountName: _, ...member }) => member));
  const rows = members.map((member) => [
    ...[member.accountName, member.memberEmailaddress, member.memberName, member.memberRole],
    member.joinedTime === undefined ? 'invited' : 'joined',
    member.signedInTime === undefined ? 'never' : toMinute(member.signedInTime),
    String(member.passkeys),
  ]);
  printLine(toTable([['ACCOUNT', 'E-MAIL', 'NAME', 'ROLE', 'STATE', 'SIGNED IN', 'PASSKEYS'], ...rows]));
};
