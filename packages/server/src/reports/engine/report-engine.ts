/** The report process, which executes the server's orders in DuckDB (messages.ts). */
import { readdirSync, rmSync } from 'node:fs';
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { OwnerFeedPage } from '../../store/report-feed.ts';
import type { EngineSettings, Order, Reply } from '../messages.ts';
import type { AnswerTo, Question } from '../questions.ts';
import { type Account, openAccount, type Source } from './account.ts';
import { answerBreakdown } from './answers/breakdown.ts';
import { preparePeople } from './answers/condition-people.ts';
import { answerFunnel } from './answers/funnel.ts';
import { answerLive } from './answers/live.ts';
import { answerPeople } from './answers/people.ts';
import { answerRetention } from './answers/retention.ts';
import { answerTotals } from './answers/totals.ts';
import { answerTouches } from './answers/touches.ts';
import { openDatabase, spillFolder, withConnection } from './database.ts';

const answer = (connection: DuckDBConnection, source: Source, question: Question): Promise<AnswerTo<Question>> => {
  switch (question.report) {
    case 'totals':
      return answerTotals(connection, source, question);
    case 'breakdown':
      return answerBreakdown(connection, source, question);
    case 'funnel':
      return answerFunnel(connection, source, question);
    case 'retention':
      return answerRetention(connection, source, question);
    case 'people':
      return answerPeople(connection, source, question);
    case 'live':
      return answerLive(connection, source, question);
    case 'touches':
      return answerTouches(connection, source, question);
  }
};

/**
 * Beyond this number, the least recently used accounts are closed once they have been unused for `unusedMilliseconds`.
 */
const maxOpen = 4;
const unusedMilliseconds = 30_000;

/** An order was for an account that is not open. */
class NotOpen extends Error {}

/** `end` exits the process. */
const createEngine = (instance: DuckDBInstance, settings: EngineSettings, end: () => void) => {
  /** Least recently opened first. */
  const accounts = new Map<number, Account>();
  const lastUsed = new Map<number, number>();
  /** The most recent order for each account, which later orders wait for. */
  const queues = new Map<number, Promise<unknown>>();
  /** The questions in progress, by order ID. */
  const running = new Map<number, { cancel(): void }>();

  const getOpen = (account: number): Account => {
    const open = accounts.get(account);
    if (!open) throw new NotOpen();
    lastUsed.set(account, Date.now());
    return open;
  };
  /**
   * Executes the orders of an account one by one. Closes the account after a fault, so that it is reopened from its
   * files.
   */
  const inTurn = <Value>(account: number, work: () => Promise<Value>): Promise<Value> => {
    const before = queues.get(account) ?? Promise.resolve();
    const result = before.then(work).catch(async (error) => {
      await close(account).catch(() => {});
      throw error;
    });
    const done = result.catch(() => {});
    queues.set(account, done);
    done.then(() => queues.get(account) === done && queues.delete(account));
    return result;
  };
  const close = async (account: number): Promise<void> => {
    const closing = accounts.get(account);
    accounts.delete(account);
    lastUsed.delete(account);
    await closing?.close();
  };
  const discard = async (account: number): Promise<void> => {
    const files = accounts.get(account);
    await close(account);
    await files?.deleteFiles();
  };
  const saveAndClose = async (account: number): Promise<void> => {
    await accounts.get(account)?.save();
    await close(account);
  };
  const closeUnused = (): void => {
    const unused = [...accounts.keys()].slice(0, Math.max(0, accounts.size - maxOpen));
    for (const account of unused) {
      if (Date.now() - (lastUsed.get(account) ?? 0) > unusedMilliseconds)
        inTurn(account, () => saveAndClose(account)).catch(() => {});
    }
  };
  const open = async (account: number) => {
    const current = accounts.get(account);
    if (current && !(await current.areFilesWhole())) await discard(account);
    const result = accounts.get(account) ?? (await openAccount(instance, account, settings));
    accounts.delete(account);
    accounts.set(account, result);
    lastUsed.set(account, Date.now());
    closeUnused();
    return result.held();
  };
  /** Purges one file at a time, so that other requests can run in between. */
  const purgeAll = async (account: number): Promise<void> => {
    let isRemoved = false;
    for (let step = ''; step !== 'done'; isRemoved ||= step === 'removed')
      step = await inTurn(account, () => getOpen(account).purgeStep());
    if (isRemoved) await clearSpilled();
  };
  const clearSpilled = async (): Promise<void> => {
    if (readdirSync(spillFolder).length === 0) return;
    // Spilled data may contain erased events, and only exiting the process reliably removes it.
    await Promise.allSettled([...accounts.values()].map((each) => each.readersDone()));
    rmSync(spillFolder, { recursive: true, force: true });
    setImmediate(end);
  };
  const purges = new Map<number, Promise<void>>();
  /** Resolves when no file of the account contains events that were erased before the call. */
  const purge = (account: number): Promise<void> => {
    const purging = purges.get(account) ?? purgeAll(account).finally(() => purges.delete(account));
    purges.set(account, purging);
    return purging;
  };
  const applyOwners = async (account: number, owners: OwnerFeedPage): Promise<void> => {
    await inTurn(account, () => getOpen(account).applyOwners(owners));
    if (!owners.more && getOpen(account).isPurgeDue()) purge(account).catch(() => {});
  };
  const ask = async (id: number, question: Question): Promise<unknown> => {
    const account = getOpen(question.account);
    let activeConnection: DuckDBConnection | undefined;
    let timer: NodeJS.Timeout | undefined;
    running.set(id, {
      cancel() {
        // Interrupts repeatedly, because an interrupt ends only the current statement.
        timer ??= setInterval(() => activeConnection?.interrupt(), 10);
      },
    });
    const answerIn = async (connection: DuckDBConnection) => {
      activeConnection = connection;
      // In one transaction, so that all statements of a report read the same events.
      await connection.run('BEGIN');
      const source = account.source();
      const isOf = await preparePeople(connection, source, question);
      return { answer: await answer(connection, { ...source, isOf }, question), through: source.through };
    };
    try {
      if (!(await account.areFilesUntouched())) return null;
      return await account.reading(() => withConnection(instance, answerIn));
    } finally {
      clearInterval(timer);
      running.delete(id);
    }
  };

  return {
    cancel: (id: number): void => running.get(id)?.cancel(),
    async execute(order: Exclude<Order, { do: 'cancel' }>): Promise<unknown> {
      switch (order.do) {
        case 'open':
          return inTurn(order.account, () => open(order.account));
        case 'append':
          return inTurn(order.account, () => getOpen(order.account).append(order.events));
        case 'owners':
          return applyOwners(order.account, order.owners);
        case 'discard':
          return inTurn(order.account, () => discard(order.account));
        case 'forget':
          await inTurn(order.account, async () => {
            await open(order.account);
            await discard(order.account);
          });
          return clearSpilled();
        case 'purge':
          do await purge(order.account);
          while (accounts.get(order.account)?.isPurgeDue());
          return;
        case 'ask':
          return ask(order.id, order.question);
        case 'end':
          await Promise.allSettled(purges.values());
          await Promise.all([...accounts.keys()].map((account) => inTurn(account, () => getOpen(account).save())));
          return setImmediate(end);
      }
    },
  };
};

/** Waits for the settings, then executes orders until the server is gone. */
export const startEngine = ({
  send,
  on,
}: {
  /** `sent` is called after the server has received the reply. */
  send(reply: Reply, sent?: () => void): void;
  on(listener: (order: unknown) => void): void;
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
    const order = message as Order;
    const started = await engine;
    if (order.do === 'cancel') return started.cancel(order.id);
    return started.execute(order).then(
      (value) => send({ id: order.id, value }),
      (error: Error) =>
        send(error instanceof NotOpen ? { id: order.id, forgotten: true } : { id: order.id, error: error.message }),
    );
  });
};
