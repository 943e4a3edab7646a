import type { Command } from 'commander';
import type { RefusedRequest, Store } from '../store/store.ts';
import { explain, WrongUsage } from './shared/command-errors.ts';
import { accountOf, addDatabase, type DatabaseOptions, withStore } from './shared/database.ts';
import { printJSON, printLine, toMinute, toTable } from './shared/printing.ts';

export const define = (command: Command): void => {
  addDatabase(command.command('list').description('list the requests that were refused for their content'))
    .option('--account <accountUUID>', 'only of this account')
    .action(list);
  addDatabase(
    command
      .command('replay [refusedID...]')
      .description('send refused requests again, with their own token; those refused again stay on the list'),
  )
    .option('--all', 'all requests on the list')
    .option('--account <accountUUID>', 'only of this account')
    .option('--as <tokenID>', 'a live token to use if their own is revoked or has expired')
    .option('--with <json>', 'an object of fields that replace those of the request; for one refusedID')
    .action(replay);
};

type Options = DatabaseOptions & { readonly account?: string };

const requestsPerPage = 100;

/** Yields the requests on the list, oldest first. */
async function* eachRefused(store: Store, account: number | null): AsyncGenerator<RefusedRequest> {
  for (let beyond: number | null = 0; beyond !== null; ) {
    const page = await store.listRefused({ account, beyond, limit: requestsPerPage });
    yield* page.requests;
    beyond = page.next;
  }
}

/** The printed form of a request, without the text of its token, even a browser token's. */
const shown = ({ refused, input, code, field, message, refusedTime, ...request }: RefusedRequest) => ({
  refusedID: String(refused),
  accountUUID: request.accountUUID,
  tokenID: request.tokenID,
  tokenKind: request.tokenKind,
  operation: request.operation,
  refusedTime: new Date(refusedTime).toISOString(),
  error: { code, message, ...(field && { field }) },
  /** An object of fields, or the text of a request that could not be parsed. */
  input,
});

const list = async (options: Options): Promise<void> => {
  const { refused, count } = await withStore(options, async (store) => {
    const account = (await accountOf(store, options)) ?? null;
    const refused: ReturnType<typeof shown>[] = [];
    for await (const request of eachRefused(store, account)) refused.push(shown(request));
    return { refused, count: await store.countRefused({ account }) };
  });
  if (options.json) return printJSON({ refused, count });
  const rows = refused.map(({ refusedID, refusedTime, tokenKind, operation, error, input }) => [
    refusedID,
    toMinute(refusedTime),
    tokenKind,
    operation,
    error.message,
    typeof input === 'string' ? input : JSON.stringify(input),
  ]);
  printLine(toTable([['REFUSED ID', 'TIME', 'TOKEN', 'OPERATION', 'WHY', 'REQUEST'], ...rows]));
  const counted = count.map(({ tokenID, tokenKind, listed, evicted, erased, replayed }) =>
    [tokenID, tokenKind, listed, evicted, erased, replayed].map(String),
  );
  printLine(['', ...toTable([['TOKEN ID', 'TOKEN', 'LISTED', 'EVICTED', 'ERASED', 'REPLAYED'], ...counted])]);
};

const parseFix = (text: string): Record<string, unknown> => {
  try {
    const fix: unknown = JSON.parse(text);
    if (typeof fix === 'object' && fix !== null && !Array.isArray(fix)) return fix as Record<string, unknown>;
  } catch {}
  throw new WrongUsage('--with must be a JSON object, such as {"eventID":3}');
};

interface Result {
  readonly refusedID: string;
  readonly answer?: object;
  readonly error?: string;
}

/** Sends requests again, and prints the results. The exit code is 1 if one of them fails. */
const replay = async (
  refusedIDs: readonly string[],
  options: Options & { readonly all?: boolean; readonly with?: string; readonly as?: string },
): Promise<void> => {
  if (refusedIDs.length > 0 === Boolean(options.all)) throw new WrongUsage('give one refusedID or more, or --all');
  const fix = options.with === undefined ? {} : parseFix(options.with);
  if (options.with !== undefined && refusedIDs.length !== 1) throw new WrongUsage('--with is for one refusedID');
  const { createReplay } = await import('../http/refused/replay.ts');
  const results = await withStore(options, async (store) => {
    const send = createReplay(store);
    const wanted = new Set(refusedIDs);
    const results: Result[] = [];
    for await (const request of eachRefused(store, (await accountOf(store, options)) ?? null)) {
      const refusedID = String(request.refused);
      if (!options.all && !wanted.delete(refusedID)) continue;
      results.push(
        await send(request, { fix, as: options.as, time: Date.now() }).then(
          (answer): Result => ({ refusedID, answer }),
          (error): Result => ({ refusedID, error: explain(error) }),
        ),
      );
    }
    return [...results, ...[...wanted].map((refusedID): Result => ({ refusedID, error: 'is not on the list' }))];
  });
  const failed = results.filter(({ error }) => error !== undefined);
  if (failed.length > 0) process.exitCode = 1;
  if (options.json) return printJSON({ replayed: results.length - failed.length, result: results });
  for (const { refusedID, error } of failed) printLine(`${refusedID}: ${error}`);
  printLine(`${results.length - failed.length} carried out, ${failed.length} not`);
};
