// What the coordinator of a cluster sends to the other nodes, as Citus itself logs it: with what functions and transactions add.
import pg from 'pg';
import { vi } from 'vitest';
import { asking } from '../../fixtures/postgres/asking.ts';

export interface RemoteCommand {
  readonly text: string;
  /** The node that carries it out. */
  readonly node: string;
  /** The session of the coordinator that has sent it: one number for each. */
  readonly session: number;
  /** The number that Citus gives to that session's connection; '': it is done by the session itself. */
  readonly connection: string;
}

/** Has all later sessions of a database log what they send; the coordinator's own part as well, if it has shards. */
export const logRemoteCommands = async (databaseURL: string): Promise<void> => {
  const [{ name } = { name: '' }] = await asking<{ name: string }>(databaseURL, 'SELECT current_database() AS name');
  await asking(
    databaseURL,
    `ALTER DATABASE ${name} SET citus.log_remote_commands = on; ALTER DATABASE ${name} SET citus.log_local_commands = on`,
  );
};

interface Notice {
  readonly message: string;
  readonly detail?: string;
}

/** The command of a notice such as `issuing COMMIT`, `on server postgres@host:5432 connectionId: 3`. */
const toCommand = (session: number, { message, detail = '' }: Notice): RemoteCommand[] => {
  const [, text] = /^(?:issuing|executing the command locally:) ([\s\S]*)$/.exec(message) ?? [];
  if (text === undefined) return [];
  const [, node = 'coordinator', connection = ''] = /^on server (.*) connectionId: (\d+)/.exec(detail) ?? [];
  return [{ text, node, session, connection }];
};

/** The session of a server that listens to the others, and looks now and then. */
const isListening = (client: pg.Client) => client.listenerCount('notification') > 0;

interface Sent {
  /** By what was asked for. */
  readonly sent: RemoteCommand[];
  /** By what looks for changes meanwhile. */
  readonly beside: RemoteCommand[];
}

/** What is sent while work is done, by all sessions of this process. */
export const sentWhile = async (work: () => Promise<unknown>): Promise<Sent> => {
  const sent: RemoteCommand[] = [];
  const beside: RemoteCommand[] = [];
  const sessions = new Map<unknown, number>();
  const emit = pg.Client.prototype.emit;
  const spy = vi.spyOn(pg.Client.prototype, 'emit').mockImplementation(function (this: pg.Client, event, ...rest) {
    if (event === 'notice') {
      if (!sessions.has(this)) sessions.set(this, sessions.size);
      (isListening(this) ? beside : sent).push(...toCommand(sessions.get(this) as number, rest[0] as Notice));
    }
    return emit.call(this, event, ...rest);
  });
  try {
    await work();
  } finally {
    spy.mockRestore();
  }
  return { sent, beside };
};

/** By the ID of each shard, the part of the hash values that it holds: what lies together has the same. */
export const readShardParts = async (databaseURL: string): Promise<ReadonlyMap<string, string>> => {
  const rows = await asking<{ shard: string; part: string }>(
    databaseURL,
    'SELECT shardid AS shard, shardminvalue AS part FROM pg_dist_shard WHERE shardminvalue IS NOT NULL',
  );
  return new Map(rows.map(({ shard, part }) => [shard, part]));
};

/** The parts whose shards the commands name. */
export const partsIn = (commands: readonly RemoteCommand[], parts: ReadonlyMap<string, string>): string[] => [
  ...new Set(
    commands.flatMap(({ text }) =>
      [...text.matchAll(/_(\d{6,})\b/g)].flatMap(([, shard]) => parts.get(shard as string) ?? []),
    ),
  ),
];

/** Whether it belongs to a commit in two phases, which the coordinator has to remember between them. */
export const isTwoPhase = ({ text }: RemoteCommand): boolean => /^(PREPARE TRANSACTION|COMMIT PREPARED)/.test(text);

/** Commands that concern several accounts: which of them have work, on which days they are, and partitions. */
const isOfSeveral = ({ text }: RemoteCommand): boolean =>
  /^SELECT DISTINCT (account|day) FROM |^SELECT worker_|\b(CREATE|ALTER|DROP) |^DELETE FROM public\.request_repeat_\d+ .*\bday\b/.test(
    text,
  );

const withoutShards = (text: string): string => text.replaceAll(/_\d{6,}\b/g, '_#');
/** What two commands of one statement have in common: each says `SELECT NULL…` in the place of tables whose rows are elsewhere. */
const beginningOf = ({ text }: RemoteCommand): string => withoutShards(text).slice(0, 60);

/**
 * The statements that went to several parts one after the other in one session, though they are of one account, and what was committed
 * in two phases.
 */
export const spreadStatements = (
  commands: readonly RemoteCommand[],
  parts: ReadonlyMap<string, string>,
): readonly string[] => {
  const sessions = new Map<number, { last?: RemoteCommand; isOfSeveral: boolean }>();
  const found = new Set<string>();
  for (const command of commands) {
    const { last, isOfSeveral: before } = sessions.get(command.session) ?? { isOfSeveral: false };
    const isEnd = /^(COMMIT|ROLLBACK)/.test(command.text);
    sessions.set(command.session, { last: command, isOfSeveral: !isEnd && (before || isOfSeveral(command)) });
    if (!last || before || isOfSeveral(command)) continue;
    if (isTwoPhase(command) && !isEnd) found.add(`in two phases: ${withoutShards(last.text)}`);
    else if (beginningOf(last) === beginningOf(command) && partsIn([last, command], parts).length > 1)
      found.add(withoutShards(command.text));
  }
  return [...found];
};
