import type { Command } from 'commander';
import type { RefusedRequest, Store } from '../store/store.ts';
import { explain, UsageError } from './shared/command-errors.ts';
import { addDatabase, type DatabaseOptions, findAccountNumber, withStore } from './shared/database.ts';
import { printJSON, printLine, toMinute, toTable } from './shared/printing.ts';

export const define = (command: Command): void => {
  addDatabase(command.command('list').description('list the requests that were refused for their content'))
    .option('--account <accountUUID>', "only this account's requests")
    .action(list);
  addDatabase(
    command
      .command('replay [refusedID...]')
      .description('resend refused requests with their original token; those refused again stay on the list'),
  )
    .option('--all', 'all requests on the list')
    .option('--account <accountUUID>', "only this account's requests")
    .option('--as <tokenID>', 'a live token to use if the original one is revoked or expired')
    .option('--with <json>', "an object with fields that replace the request's; only with a single refusedID")
    .action(replay);
};

type Options = DatabaseOptions & { readonly account?: string };

const requestsPerPage = 100;

/** Yields the requests on the list, oldest first. */
async function* readRefused(store: Store, account: number | null): AsyncGenerator<RefusedRequest> {
  for (let beyond: number | null = 0; beyond !== null; ) {
    const page = await store.listRefused({ account, beyond, limit: requestsPerPage });
    yield* page.requests;
    beyond = page.next;
  }
}

/** The printed form of a request, which omits the token's text, even for a browser token. */
const toOutput = ({ refused, input, code, field, message, refusedTime, ...request }: RefusedRequest) => ({
  refusedID: String(refused),
  accountUUID: request.accountUUID,
  tokenID: request.tokenID,
  tokenKind: request.tokenKind,
  operation: request.operation,
  refusedTime: new Date(refusedTime).toISOString(),
  error: { code, message, ...(field && { field }) },
  /** The request's fields, or its text if it could not be parsed. */
  input,
});

const list = async (options: Options): Promise<void> => {
  const { refused, count } = await withStore(options, async (store) => {
    const account = (await findAccountNumber(store, options)) ?? null;
    const refused: ReturnType<typeof toOutput>[] = [];
    for await (const request of readRefused(store, account)) refused.push(toOutput(request));
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
  throw new UsageError('--with must be a JSON object, such as {"eventID":3}');
};

interface Result {
  readonly refusedID: string;
  readonly answer?: object;
  readonly error?: string;
}

/** Resends requests and prints the results. Exits with 1 if any fails. */
const replay = async (
  refusedIDs: readonly string[],
  options: Options & { readonly all?: boolean; readonly with?: string; readonly as?: string },
): Promise<void> => {
  if (refusedIDs.length > 0 === Boolean(options.all)) throw new UsageError('give one or more refusedIDs, or --all');
  const fix = options.with === undefined ? {} : parseFix(options.with);
  if (options.with !== undefined && refusedIDs.length !== 1)
    throw new UsageError('--with requires exactly one refusedID');
  const { createReplay } = await import('../http/refused/replay.ts');
  const results = await withStore(options, async (store) => {
    const send = createReplay(store);
    const requestedIDs = new Set(refusedIDs);
    const results: Result[] = [];
    for await (const request of readRefused(store, (await findAccountNumber(store, options)) ?? null)) {
      const refusedID = String(request.refused);
      if (!options.all && !requestedIDs.delete(refusedID)) continue;
      results.push(
        await send(request, { fix, as: options.as, time: Date.now() }).then(
          (answer): Result => ({ refusedID, answer }),
          (error): Result => ({ refusedID, error: explain(error) }),
        ),
      );
    }
    return [...results, ...[...requestedIDs].map((refusedID): Result => ({ refusedID, error: 'is not on the list' }))];
  });
  const failed = results.filter(({ error }) => error !== undefined);
  if (failed.length > 0) process.exitCode = 1;
  if (options.json) return printJSON({ replayed: results.length - failed.length, result: results });
  for (const { refusedID, error } of failed) printLine(`${refusedID}: ${error}`);
  printLine(`${results.length - failed.length} resent, ${failed.length} failed`);
};
