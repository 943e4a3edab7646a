/** People who may sign in to the console. The API calls them members, because its users are browsers. */
import { type MemberRole, memberRoles, roleKinds } from '@firsthand/contract/account/members';
import { type Command, Option } from 'commander';
import { parseAddress } from '../identity/email-address.ts';
import type { Store } from '../store/store.ts';
import { type AccountOptions, addDatabase, chooseAccount, findAccountNumber, withStore } from './shared/database.ts';
import { addSettings, toSettings } from './shared/flags.ts';
import { addressSettings, formatInvitation, inviteMember } from './shared/invitations.ts';
import { printJSON, printLine, toMinute, toTable } from './shared/printing.ts';

const createRoleOption = () =>
  new Option('--role <role>', 'viewer: read; editor: also change contacts and catalogues; owner: everything')
    .choices(memberRoles)
    .makeOptionMandatory();

export const define = (command: Command): void => {
  const inviting = command
    .command('invite <e-mail>')
    .description('invite a person, or let a member choose a new password or passkey');
  addSettings(addDatabase(inviting), addressSettings)
    .addOption(createRoleOption())
    .option('--account <accountUUID>', 'the account; required if there are several')
    .option('--name <name>', "the person's name, which they can change")
    .action(invite);
  addDatabase(command.command('list').description('list the people who may sign in or are invited'))
    .option('--account <accountUUID>', "only this account's people")
    .action(list);
  addDatabase(command.command('role <e-mail>').description("change a person's role, including in open sessions"))
    .addOption(createRoleOption())
    .option('--account <accountUUID>', 'the account; required if there are several')
    .action(changeRole);
  addDatabase(command.command('remove <e-mail>').description('remove a person and end their sessions immediately'))
    .option('--account <accountUUID>', 'the account; required if there are several')
    .option('--descendants', 'also revoke the secret tokens, share links and open invitations that the person created')
    .action(remove);
};

type Options = AccountOptions;

/** Calls `work` with the selected account's member with this e-mail address. Throws if there is none. */
const withMember = async <Result>(
  emailaddress: string,
  options: Options,
  work: (store: Store, target: { readonly account: number; readonly memberID: string }) => Promise<Result>,
): Promise<Result> =>
  withStore(options, async (store) => {
    const { account, accountName } = await chooseAccount(store, options);
    const members = await store.listMembers({ account });
    const member = members.find((each) => each.emailaddress === parseAddress(emailaddress));
    if (member === undefined) throw new Error(`no member of ${accountName} has the e-mail address ${emailaddress}`);
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
      await chooseAccount(store, options),
      { emailaddress, role, name },
      toSettings(addressSettings, options),
    ),
  );
  if (options.json) return printJSON({ ...invitation, status: '200' });
  printLine(formatInvitation(emailaddress, invitation));
};

const changeRole = async (emailaddress: string, options: Options & { readonly role: MemberRole }): Promise<void> => {
  const { role } = options;
  const { memberID } = await withMember(emailaddress, options, async (store, target) => {
    await store.updateMember({ ...target, kind: roleKinds[role], time: Date.now() });
    return target;
  });
  if (options.json) return printJSON({ memberID, memberRole: role, status: '200' });
  printLine(`${emailaddress} is now ${role}, also in open sessions`);
};

const remove = async (emailaddress: string, options: Options & { readonly descendants?: boolean }): Promise<void> => {
  const { descendants } = options;
  const { memberID, tokens, shareLinks } = await withMember(emailaddress, options, async (store, target) => ({
    ...target,
    ...(await store.removeMember({ ...target, descendants, time: Date.now() })),
  }));
  if (options.json)
    return printJSON({ memberID, ...(descendants && { descendants: tokens, shareLinks }), status: '200' });
  printLine(`${emailaddress} can no longer sign in; open sessions have ended`);
  for (const tokenID of tokens) printLine(`${tokenID}, which the person created, was revoked too`);
  for (const shareID of shareLinks) printLine(`${shareID}, a share link of the person, was revoked too`);
};

const list = async (options: Options): Promise<void> => {
  const membersByAccount = await withStore(options, async (store) => {
    const only = await findAccountNumber(store, options);
    const accounts = (await store.listAccounts()).filter(({ account }) => only === undefined || account === only);
    return Promise.all(
      accounts.map(async ({ account, accountUUID, accountName }) => ({
        ...{ accountUUID, accountName },
        members: await store.listMembers({ account }),
      })),
    );
  });
  const { memberResponse } = await import('../http/operations/accounts/members.ts');
  const members = membersByAccount.flatMap(({ members, ...account }) =>
    members.map((member) => ({ ...account, ...memberResponse(member, Date.now()) })),
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
