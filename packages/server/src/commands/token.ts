import { type TokenKind, tokenKinds } from '@firsthand/contract/tokens';
import { type Command, Option } from 'commander';
import type { Store } from '../store/store.ts';
import { addDatabase, asOperator, withStore } from './database.ts';
import { WrongUsage } from './failing.ts';
import { jsonFlag } from './flags.ts';
import { printJSON, printLine, toList, toMinute, toTable } from './printing.ts';

export const define = (command: Command): void => {
  addDatabase(command.command('create').description('create a token; a server or operator token is shown this once'))
    .addOption(new Option('--kind <kind>', 'what it may do').choices(tokenKinds).makeOptionMandatory())
    .option('--account <accountUUID>', 'whose it is; an operator token is nobody’s')
    .option('--name <name>', 'what it is for')
    .option(...jsonFlag)
    .action(create);
  addDatabase(command.command('revoke <tokenID>').description('revoke a token; it stops working at once'))
    .option('--account <accountUUID>', 'whose it is; without it, an operator token is meant')
    .option(...jsonFlag)
    // A tokenID may begin with a hyphen.
    .allowUnknownOption()
    .action(revoke);
  addDatabase(command.command('list').description("list the accounts' tokens; never the text of a server token"))
    .option('--account <accountUUID>', 'of this account only')
    .option(...jsonFlag)
    .action(list);
};

type Options = Record<string, unknown> & { readonly account?: string; readonly json?: boolean };

const createOperatorToken = async (store: Store, tokenName: string) => {
  const [{ nanoid }, { createTokenText, newToken }] = await Promise.all([
    import('nanoid'),
    import('../ingest/token.ts'),
  ]);
  const tokenUUID = createTokenText('operator');
  const token = newToken('operator', { text: tokenUUID, tokenID: nanoid(), tokenName, time: Date.now() });
  await store.createToken({ ...token, account: null });
  return { tokenID: token.tokenID, tokenKind: 'operator', tokenUUID };
};

const create = async (options: Options & { readonly kind: TokenKind; readonly name?: string }): Promise<void> => {
  const { kind, account, name = '' } = options;
  if ((kind === 'operator') !== (account === undefined)) {
    throw new WrongUsage(
      kind === 'operator' ? 'an operator token belongs to no --account' : `--account is required for a ${kind} token`,
    );
  }
  const { createTokens } = await import('../http/tokens.ts');
  const answer = await withStore(options, (store) =>
    kind === 'operator'
      ? createOperatorToken(store, name)
      : createTokens(store).createToken({ accountUUID: account, tokenKind: kind, tokenName: name }, asOperator()),
  );
  if (options.json) return printJSON({ ...answer, status: '200' });
  const isSecret = kind !== 'browser';
  printLine(
    toList([
      ['Token', isSecret ? `${answer.tokenUUID}  (secret, and shown this once)` : answer.tokenUUID],
      ['Token ID', answer.tokenID],
    ]),
  );
};

const revoke = async (tokenID: string, options: Options): Promise<void> => {
  const { createTokens } = await import('../http/tokens.ts');
  const revokedTime = await withStore(options, async (store) => {
    if (options.account === undefined) return store.revokeToken({ account: null, tokenID, time: Date.now() });
    const request = { accountUUID: options.account, tokenID };
    return Date.parse((await createTokens(store).revokeToken(request, asOperator())).revokedTime);
  });
  if (options.json) {
    return printJSON({ tokenID, revokedTime: new Date(revokedTime).toISOString(), status: '200' });
  }
  printLine(`${tokenID} is revoked since ${toMinute(revokedTime)}`);
};

const list = async (options: Options): Promise<void> => {
  const accounts = await withStore(options, async (store) => {
    const known = await store.listAccounts();
    const asked = known.filter(({ accountUUID }) => options.account === undefined || accountUUID === options.account);
    if (options.account !== undefined && asked.length === 0) throw new Error(`there is no account ${options.account}`);
    return Promise.all(asked.map(({ account }) => store.getAccount(account)));
  });
  const tokens = accounts.flatMap(({ accountUUID, accountName, tokens }) =>
    tokens.map((token) => ({ accountUUID, accountName, ...token })),
  );
  if (options.json) {
    return printJSON(
      tokens.map(({ accountUUID, tokenID, kind, tokenName, text, createdTime, revokedTime }) => ({
        accountUUID,
        tokenID,
        tokenKind: kind,
        tokenName,
        ...(text !== null && { tokenUUID: text }),
        createdTime: new Date(createdTime).toISOString(),
        ...(revokedTime !== null && { revokedTime: new Date(revokedTime).toISOString() }),
      })),
    );
  }
  const rows = tokens.map(({ accountName, kind, tokenID, tokenName, createdTime, revokedTime, text }) => [
    accountName,
    kind,
    tokenID,
    tokenName,
    revokedTime === null ? toMinute(createdTime) : `revoked ${toMinute(revokedTime)}`,
    text ?? '(secret)',
  ]);
  printLine(toTable(['ACCOUNT', 'KIND', 'TOKEN ID', 'NAME', 'CREATED', 'TOKEN'], rows));
};
