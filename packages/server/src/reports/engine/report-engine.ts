/** The report process, which executes the server's requests in DuckDB (messages.ts). */
import { readdirSync, rmSync } from 'node:fs';
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { OwnerFeedPage } from '../../store/report-feed.ts';
import type { EngineRequest, EngineSettings, Reply } from '../messages.ts';
import type { ReportQuery, ReportResult, ResultOf } from '../queries.ts';
import type { Account } from './account.ts';
import { openDatabase, spillFolder, withConnection } from './database.ts';
import { createOpenAccounts, NotOpen } from './open-accounts.ts';
import { computeBreakdown } from './reports/breakdown.ts';
import { preparePeople } from './reports/condition-people.ts';
import { computeFunnel } from './reports/funnel.ts';
import { computeLive } from './reports/live.ts';
import { computePeople } from './reports/people.ts';
import { computeRetention } from './reports/retention.ts';
import { computeTotals } from './reports/totals.ts';
import { computeTouches } from './reports/touches.ts';
import type { Source } from './source.ts';

const compute = (connection: DuckDBConnection, source: Source, query: ReportQuery): Promise<ResultOf<ReportQuery>> => {
  switch (query.report) {
    case 'totals':
      return computeTotals(connection, source, query);
    case 'breakdown':
      return computeBreakdown(connection, source, query);
    case 'funnel':
      return computeFunnel(connection, source, query);
    case 'retention':
      return computeRetention(connection, source, query);
    case 'people':
      return computePeople(connection, source, query);
    case 'live':
      return computeLive(connection, source, query);
    case 'touches':
      return computeTouches(connection, source, query);
  }
};

/** Runs reports, which can be canceled by request ID. */
const createReportRunner = (instance: DuckDBInstance) => {
  const running = new Map<number, { cancel(): void }>();
  return {
    cancel: (id: number): void => running.get(id)?.cancel(),
    /** Returns null if the account's files are damaged. */
    async run(id: number, account: Account, query: ReportQuery): Promise<ReportResult<ReportQuery> | null> {
      let activeConnection: DuckDBConnection | undefined;
      let timer: NodeJS.Timeout | undefined;
      running.set(id, {
        cancel() {
          // Interrupts repeatedly, because an interrupt ends only the current statement.
          timer ??= setInterval(() => activeConnection?.interrupt(), 10);
        },
      });
      const runIn = async (connection: DuckDBConnection) => {
        activeConnection = connection;
        // Runs in one transaction, so that all statements of a report read the same events.
        await connection.run('BEGIN');
        const source = await preparePeople(connection, account.snapshot(), query);
        return { result: await compute(connection, source, query), through: source.through };
      };
      try {
        if (!(await account.areFilesUntouched())) return null;
        return await account.readers.track(() => withConnection(instance, runIn));
      } finally {
        clearInterval(timer);
        running.delete(id);
      }
    },
  };
};

/** `end` is called to exit the process. */
const createEngine = (instance: DuckDBInstance, settings: EngineSettings, end: () => void) => {
  const accounts = createOpenAccounts(instance, settings);
  const { inTurn } = accounts;
  const runner = createReportRunner(instance);
  const purges = new Map<number, Promise<void>>();

  const clearSpilled = async (): Promise<void> => {
    if (readdirSync(spillFolder).length === 0) return;
    // Waits for reports, then exits: spilled data might contain erased events, and only exiting the process reliably
    // removes it.
    await accounts.readersDone();
    rmSync(spillFolder, { recursive: true, force: true });
    setImmediate(end);
  };
  /** Purges one file at a time, so that other requests can run in between. */
  const purgeAll = async (account: number): Promise<void> => {
    let isRemoved = false;
    for (let step = ''; step !== 'done'; isRemoved ||= step === 'removed')
      step = await inTurn(account, () => accounts.get(account).purgeStep());
    if (isRemoved) await clearSpilled();
  };
  /** Resolves when none of the account's files contains events that were erased before the call. */
  const purge = (account: number): Promise<void> => {
    const purging = purges.get(account) ?? purgeAll(account).finally(() => purges.delete(account));
    purges.set(account, purging);
    return purging;
  };
  const applyOwners = async (account: number, owners: OwnerFeedPage): Promise<void> => {
    await inTurn(account, () => accounts.get(account).applyOwners(owners));
    if (!owners.more && accounts.get(account).isPurgeDue()) purge(account).catch(() => {});
  };

  return {
    cancel: runner.cancel,
    async execute(request: Exclude<EngineRequest, { do: 'cancel' }>): Promise<unknown> {
      switch (request.do) {
        case 'open':
          return inTurn(request.account, () => accounts.open(request.account));
        case 'append':
          return inTurn(request.account, () => accounts.get(request.account).append(request.events));
        case 'owners':
          return applyOwners(request.account, request.owners);
        case 'discard':
          return inTurn(request.account, () => accounts.discard(request.account));
        case 'forget':
          await inTurn(request.account, async () => {
            await accounts.open(request.account);
            await accounts.discard(request.account);
          });
          return clearSpilled();
        case 'purge':
          do await purge(request.account);
          while (accounts.isPurgeDue(request.account));
          return;
        case 'run':
          return runner.run(request.id, accounts.get(request.query.account), request.query);
        case 'end':
          await Promise.allSettled(purges.values());
          await Promise.all(accounts.numbers().map((account) => inTurn(account, () => accounts.get(account).save())));
          return setImmediate(end);
      }
    },
  };
};

/** Waits for the settings, then executes requests until the server disconnects. */
export const startEngine = ({
  send,
  on,
}: {
  /** `sent` is called after the server has received the reply. */
  send(reply: Reply, sent?: () => void): void;
  on(listener: (request: unknown) => void): void;
}) => {
  let engine: Promise<ReturnType<typeof createEngine>> | undefined;
  on(async (message) => {
    if (!engine) {
      // The working directory is the settings' folder with symbolic links resolved, as DuckDB resolves file names.
      const settings: EngineSettings = { ...(message as EngineSettings), folder: process.cwd() };
      const end = () => send({ ends: true }, () => process.disconnect());
      engine = openDatabase(settings).then((instance) => createEngine(instance, settings, end));
      return engine.catch((error: Error) => send({ missing: error.message }));
    }
    const request = message as EngineRequest;
    const started = await engine;
    if (request.do === 'cancel') return started.cancel(request.id);
    return started.execute(request).then(
      (value) => send({ id: request.id, value }),
      (error: Error) =>
        send(error instanceof NotOpen ? { id: request.id, forgotten: true } : { id: request.id, error: error.message }),
    );
  });
};
