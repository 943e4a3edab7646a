import { type TokenKind, tokenKinds } from '@firsthand/contract/account/tokens';
import { type Command, Option } from 'commander';
import { isLive, isMemberAccess } from '../ingest/token.ts';
import type { ListedToken } from '../store/store.ts';
import { UsageError } from './shared/command-errors.ts';
import { addDatabase, asOperator, type DatabaseOptions, findAccountNumber, withStore } from './shared/database.ts';
import { printJSON, printLine, toMinute, toTable } from './shared/printing.ts';

export const define = (command: Command): void => {
  addDatabase(command.command('create').description('create a token; the text of a secret token is shown only once'))
    .addOption(
      new Option('--kind <kind>', 'the kind of token, which determines what it may do')
        .choices(tokenKinds)
        .makeOptionMandatory(),
    )
    .option('--account <accountUUID>', "the token's account; omit it for an operator token")
    .option('--name <name>', 'a name that describes what the token is for')
    .option('--expires <time>', 'when the token expires: ISO 8601, such as 2027-01-31T12:00:00Z')
    .action(create);
  addDatabase(command.command('revoke <tokenID>').description('revoke a token; it stops working immediately'))
    .option('--account <accountUUID>', "the token's account; omit it for an operator token")
    .option('--descendants', 'also revoke every token that it created, directly or indirectly')
    // A tokenID can begin with a hyphen.
    .allowUnknownOption()
    .action(revoke);
  addDatabase(
    command.command('list').description('list account and operator tokens, without the text of secret tokens'),
  )
    .option('--account <accountUUID>', "only this account's tokens")
    .action(list);
};

const hourMs = 3_600_000;

type Options = DatabaseOptions & { readonly account?: string };

/** The time of --expires, in milliseconds since 1970. Throws UsageError if it is invalid or past. */
const parseExpires = async (expires: string | undefined): Promise<number | undefined> => {
  if (expires === undefined) return undefined;
  const { time } = await import('@firsthand/contract/fields');
  const parsed = time.safeParse(expires);
  if (!parsed.success) throw new UsageError(`--expires ${parsed.error.issues[0]?.message}`);
  if (parsed.data <= Date.now()) throw new UsageError('--expires must be in the future');
  return parsed.data;
};

const create = async (
  options: Options & { readonly kind: TokenKind; readonly name?: string; readonly expires?: string },
): Promise<void> => {
  const { kind, name } = options;
  if ((kind === 'operator') !== (options.account === undefined)) {
    throw new UsageError(
      kind === 'operator'
        ? 'an operator token belongs to no account: leave out --account'
        : `--account is required for a ${kind} token`,
    );
  }
  const expiresTime = await parseExpires(options.expires);
  const { issueToken } = await import('../http/operations/accounts/tokens.ts');
  const response = await withStore(options, async (store) => {
    const account = (await findAccountNumber(store, options)) ?? null;
    return issueToken(store, asOperator(), { account, kind, tokenName: name, expiresTime });
  });
  if (options.json) return printJSON({ ...response, status: '200' });
  const note = kind === 'browser' ? '' : '  (secret; shown only once)';
  printLine(
    toTable([
      ['Token', `${response.tokenUUID}${note}`],
      ['Token ID', response.tokenID],
    ]),
  );
};

const revoke = async (tokenID: string, options: Options & { readonly descendants?: boolean }): Promise<void> => {
  const { descendants } = options;
  const revoked = await withStore(options, async (store) => {
    const account = (await findAccountNumber(store, options)) ?? null;
    return store.revokeToken({ account, tokenID, descendants, time: Date.now() });
  });
  if (options.json) {
    const revokedTime = new Date(revoked.revokedTime).toISOString();
    return printJSON({ tokenID, revokedTime, ...(descendants && { descendants: revoked.descendants }), status: '200' });
  }
  printLine(`${tokenID} was revoked at ${toMinute(revoked.revokedTime)}`);
  for (const descendant of revoked.descendants) printLine(`${descendant}, which it created, was revoked too`);
};

const formatState = (token: ListedToken): string => {
  if (token.revokedTime !== null) return `revoked ${toMinute(token.revokedTime)}`;
  if (token.expiresTime === null) return 'live';
  return `${isLive(token, Date.now()) ? 'expires' : 'expired'} ${toMinute(token.expiresTime)}`;
};

/** The store rounds the last use down to the hour, which can be before the token's creation. */
const formatLastUse = ({ lastUsedTime }: ListedToken): string => {
  if (lastUsedTime === null) return 'never';
  return Date.now() - lastUsedTime < hourMs ? 'this hour' : `${toMinute(lastUsedTime).slice(0, 13)}h`;
};

const list = async (options: Options): Promise<void> => {
  const [{ tokenResponse }, tokens] = await Promise.all([
    import('../http/operations/accounts/tokens.ts'),
    withStore(options, async (store) =>
      (await store.listTokens({ account: await findAccountNumber(store, options) })).filter(
        (token) => !isMemberAccess(token),
      ),
    ),
  ]);
  if (options.json)
    return printJSON(
      tokens.map((token) => ({ accountUUID: token.accountUUID ?? '', ...tokenResponse<TokenKind>(token) })),
    );
  const rows = tokens.map((token) => [
    token.accountName ?? '(the service)',
    token.kind,
    token.tokenID,
    token.tokenName,
    toMinute(token.createdTime),
    token.createdBy ?? 'command',
    formatLastUse(token),
    formatState(token),
    token.text ?? '(secret)',
  ]);
  const columns = ['ACCOUNT', 'KIND', 'TOKEN ID', 'NAME', 'CREATED', 'BY', 'LAST USED', 'STATE', 'TOKEN'];
  printLine(toTable([columns, ...rows]));
};
