// The commands that the coordinator sends to other nodes, as Citus logs them, including those of functions and commits.
import pg from 'pg';
import { vi } from 'vitest';
import { querySQL } from '../../fixtures/postgres/sql.ts';

export interface RemoteCommand {
  readonly text: string;
  /** The node that executes the command. */
  readonly node: string;
  /** The ID of the coordinator session that sends the command. */
  readonly session: number;
  /** Citus's ID for that session's connection; '' if the session executes the command itself. */
  readonly connection: string;
}

/**
 * Makes all later sessions in a database log the commands that they send, including those for shards on the
 * coordinator.
 */
export const logRemoteCommands = async (databaseURL: string): Promise<void> => {
  const [{ name } = { name: '' }] = await querySQL<{ name: string }>(databaseURL, 'SELECT current_database() AS name');
  await querySQL(
    databaseURL,
    `ALTER DATABASE ${name} SET citus.log_remote_commands = on; ALTER DATABASE ${name} SET citus.log_local_commands = on`,
  );
};

interface Notice {
  readonly message: string;
  readonly detail?: string;
}

/** Parses the command in a notice such as `issuing COMMIT`, `on server postgres@host:5432 connectionId: 3`. */
const toCommand = (session: number, { message, detail = '' }: Notice): RemoteCommand[] => {
  const [, text] = /^(?:issuing|executing the command locally:) ([\s\S]*)$/.exec(message) ?? [];
  if (text === undefined) return [];
  const [, node = 'coordinator', connection = ''] = /^on server (.*) connectionId: (\d+)/.exec(detail) ?? [];
  return [{ text, node, session, connection }];
};

/** Whether this client is a session that watches for other servers' changes. */
const isListening = (client: pg.Client) => client.listenerCount('notification') > 0;

interface SentCommands {
  /** The commands that the work sent. */
  readonly sent: RemoteCommand[];
  /** The commands from the sessions that watch for changes. */
  readonly background: RemoteCommand[];
}

/** Returns the commands that all of this process's sessions send while the work runs. */
export const recordCommands = async (work: () => Promise<unknown>): Promise<SentCommands> => {
  const sent: RemoteCommand[] = [];
  const background: RemoteCommand[] = [];
  const sessions = new Map<unknown, number>();
  const emit = pg.Client.prototype.emit;
  const spy = vi.spyOn(pg.Client.prototype, 'emit').mockImplementation(function (this: pg.Client, event, ...rest) {
    if (event === 'notice') {
      if (!sessions.has(this)) sessions.set(this, sessions.size);
      (isListening(this) ? background : sent).push(...toCommand(sessions.get(this) as number, rest[0] as Notice));
    }
    return emit.call(this, event, ...rest);
  });
  try {
    await work();
  } finally {
    spy.mockRestore();
  }
  return { sent, background };
};

/** Returns each shard's range of hash values, by shard ID. Co-located shards have the same range. */
export const readShardParts = async (databaseURL: string): Promise<ReadonlyMap<string, string>> => {
  const rows = await querySQL<{ shard: string; part: string }>(
    databaseURL,
    'SELECT shardid AS shard, shardminvalue AS part FROM pg_dist_shard WHERE shardminvalue IS NOT NULL',
  );
  return new Map(rows.map(({ shard, part }) => [shard, part]));
};

/** Returns the parts of the data whose shards occur in the commands. */
export const listParts = (commands: readonly RemoteCommand[], parts: ReadonlyMap<string, string>): string[] => [
  ...new Set(
    commands.flatMap(({ text }) =>
      [...text.matchAll(/_(\d{6,})\b/g)].flatMap(([, shard]) => parts.get(shard as string) ?? []),
    ),
  ),
];

/** Whether a command is part of a two-phase commit, which requires the coordinator to persist its state. */
export const isTwoPhase = ({ text }: RemoteCommand): boolean => /^(PREPARE TRANSACTION|COMMIT PREPARED)/.test(text);

/** Whether a command covers several accounts: those with pending work, their days, and partitions. */
const isForSeveralAccounts = ({ text }: RemoteCommand): boolean =>
  /^SELECT DISTINCT (account|day) FROM |^SELECT worker_|\b(CREATE|ALTER|DROP) |^DELETE FROM public\.request_repeat_\d+ .*\bday\b/.test(
    text,
  );

const withoutShards = (text: string): string => text.replaceAll(/_\d{6,}\b/g, '_#');
/**
 * The common prefix of a statement's commands. Each command has `SELECT NULL…` instead of the tables on other nodes.
 */
const prefixOf = ({ text }: RemoteCommand): string => withoutShards(text).slice(0, 60);

/**
 * Returns an account's statements that a session sent to several parts, and those that were committed in two phases.
 */
export const listMultiShardStatements = (
  commands: readonly RemoteCommand[],
  parts: ReadonlyMap<string, string>,
): readonly string[] => {
  const sessions = new Map<number, { last?: RemoteCommand; isForSeveral: boolean }>();
  const statements = new Set<string>();
  for (const command of commands) {
    const { last, isForSeveral: before } = sessions.get(command.session) ?? { isForSeveral: false };
    const isEnd = /^(COMMIT|ROLLBACK)/.test(command.text);
    sessions.set(command.session, { last: command, isForSeveral: !isEnd && (before || isForSeveralAccounts(command)) });
    if (!last || before || isForSeveralAccounts(command)) continue;
    if (isTwoPhase(command) && !isEnd) statements.add(`in two phases: ${withoutShards(last.text)}`);
    else if (prefixOf(last) === prefixOf(command) && listParts([last, command], parts).length > 1)
      statements.add(withoutShards(command.text));
  }
  return [...statements];
};
