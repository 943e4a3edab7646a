/**
 * Tests that on a cluster, all of an operation's commands go to a single shard and commit in one phase. Reads the
 * commands from the coordinator's log (citus.log_remote_commands), because EXPLAIN shows neither statements in
 * functions nor commits.
 */
import { type OperationName, operationNames, operations } from '@firsthand/contract/operations';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newDatabase, querySQL } from '../fixtures/postgres/databases.ts';
import { newUserUUID, smallestInput } from '../fixtures/requests.ts';
import { type Fields, openScene, type Scene } from '../fixtures/scene.ts';
import {
  isTwoPhase,
  listParts,
  logRemoteCommands,
  type RemoteCommand,
  readShardParts,
  recordCommands,
} from './tools/remote-commands.ts';

/** Operations that write to coordinator tables. */
const accessOperations: ReadonlySet<OperationName> = new Set([
  'createAccount',
  'createToken',
  'revokeToken',
  'inviteMember',
  'updateMember',
  'removeMember',
  'createShareLink',
  'revokeShareLink',
]);

let scene: Scene;
let parts: ReadonlyMap<string, string>;
/** The part with the account's shards. No other account in this database shares it. */
let own: string | undefined;
beforeAll(async () => {
  const databaseURL = await newDatabase();
  await logRemoteCommands(databaseURL);
  scene = await openScene({ databaseURL, role: 'command' });
  await scene.post('/logEvent', { tokenUUID: scene.tokens.browser, userUUID: newUserUUID(), eventID: 1 });
  parts = await readShardParts(databaseURL);
  const [row] = await querySQL<{ shard: string }>(
    databaseURL,
    `SELECT get_shard_id_for_distribution_column('event', account) AS shard FROM account WHERE "accountUUID" = '${scene.accountUUID}'`,
  );
  own = parts.get(row?.shard ?? '');
});
afterAll(() => scene.close());

const call = async (name: OperationName, fields: Fields) => {
  const { methods, paths } = operations[name];
  const { status, body } = await (methods[0] === 'GET' ? scene.get : scene.post)(paths[0], fields);
  expect([status, body]).toEqual([200, expect.anything()]);
};

/** Runs an operation twice, and returns what the coordinator sends the second time, with warm caches. */
const sentBy = async (name: OperationName): Promise<RemoteCommand[]> => {
  const { tokens } = operations[name];
  const kind = tokens.includes('server') ? 'server' : (tokens[0] as 'operator');
  const createInput = async () => ({ tokenUUID: scene.tokens[kind], ...(await smallestInput[name](scene, kind)) });
  await call(name, await createInput());
  const fields = await createInput();
  return (await recordCommands(() => call(name, fields))).sent;
};

/** Excludes the coordinator if it only combines other nodes' results. */
const nodesIn = (sent: readonly RemoteCommand[]) => [
  ...new Set(sent.flatMap((command) => (/read_intermediate_result/.test(command.text) ? [] : command.node))),
];

const streamed: ReadonlySet<OperationName> = new Set(['streamEvents']);
const ofAnAccount = operationNames.filter((name) => !accessOperations.has(name) && !streamed.has(name));

test('finds the part with the account’s shards', () => {
  expect(own).toEqual(expect.any(String));
});

describe('an operation', () => {
  test.each(ofAnAccount)(
    '%s reads and writes only its account’s shards, on one node and in one phase',
    async (name) => {
      const sent = await sentBy(name);
      expect(listParts(sent, parts).filter((part) => part !== own)).toEqual([]);
      expect(nodesIn(sent).length).toBeLessThanOrEqual(1);
      expect(sent.filter(isTwoPhase)).toEqual([]);
    },
  );

  test.each([...accessOperations])('%s reads and writes only one account’s shards', async (name) => {
    // createAccount uses a second part, because an operator's calls are recorded in the service's audit log.
    const maxParts = name === 'createAccount' ? 2 : 1;
    expect(listParts(await sentBy(name), parts).length).toBeLessThanOrEqual(maxParts);
  });
});

test('watches for other servers’ changes without queries to shards', async () => {
  const { sent, background } = await recordCommands(() => new Promise((resolve) => setTimeout(resolve, 5_000)));
  expect([...sent, ...background]).toEqual([]);
});
