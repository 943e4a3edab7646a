/**
 * What an operation costs on a cluster: everything of an account goes to one shard, in one phase. The commands are those that the
 * coordinator logs as it sends them (citus.log_remote_commands). EXPLAIN would show neither what functions ask, nor how a transaction
 * is committed, and would have to plan each statement anew outside of its transaction.
 */
import { type OperationName, operationNames, operations } from '@firsthand/contract/operations';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asking, newDatabase } from '../fixtures/postgres/databases.ts';
import { newUserUUID, smallestInput } from '../fixtures/requests.ts';
import { type Fields, openScene, type Scene } from '../fixtures/scene.ts';
import {
  isTwoPhase,
  logRemoteCommands,
  partsIn,
  type RemoteCommand,
  readShardParts,
  sentWhile,
} from './tools/remote-commands.ts';

/** They change tables of the coordinator: who may do what. */
const changeAccess: ReadonlySet<OperationName> = new Set([
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
/** The part of the account's shards, and of no other account's in this database. */
let own: string | undefined;
beforeAll(async () => {
  const databaseURL = await newDatabase();
  await logRemoteCommands(databaseURL);
  scene = await openScene({ databaseURL, role: 'beside' });
  await scene.post('/logEvent', { tokenUUID: scene.tokens.browser, userUUID: newUserUUID(), eventID: 1 });
  parts = await readShardParts(databaseURL);
  const [found] = await asking<{ shard: string }>(
    databaseURL,
    `SELECT get_shard_id_for_distribution_column('event', account) AS shard FROM account WHERE "accountUUID" = '${scene.accountUUID}'`,
  );
  own = parts.get(found?.shard ?? '');
});
afterAll(() => scene.close());

const call = async (name: OperationName, fields: Fields) => {
  const { methods, paths } = operations[name];
  const { status, body } = await (methods[0] === 'GET' ? scene.get : scene.post)(paths[0], fields);
  expect([status, body]).toEqual([200, expect.anything()]);
};

/** Carries out an operation a second time, when every session has what it keeps, and answers what the coordinator sends then. */
const sentBy = async (name: OperationName): Promise<RemoteCommand[]> => {
  const { tokens } = operations[name];
  const kind = tokens.includes('server') ? 'server' : (tokens[0] as 'operator');
  const ask = async () => ({ tokenUUID: scene.tokens[kind], ...(await smallestInput[name](scene, kind)) });
  await call(name, await ask());
  const fields = await ask();
  return (await sentWhile(() => call(name, fields))).sent;
};

/** Without the coordinator, where it only puts together what others have sent. */
const nodesIn = (sent: readonly RemoteCommand[]) => [
  ...new Set(sent.flatMap((command) => (/read_intermediate_result/.test(command.text) ? [] : command.node))),
];

const streamed: ReadonlySet<OperationName> = new Set(['streamEvents']);
const ofAnAccount = operationNames.filter((name) => !changeAccess.has(name) && !streamed.has(name));

test('the account’s shards are known', () => {
  expect(own).toEqual(expect.any(String));
});

describe('an operation', () => {
  test.each(ofAnAccount)('%s reads and writes shards of its account only, on one node, in one phase', async (name) => {
    const sent = await sentBy(name);
    expect(partsIn(sent, parts).filter((part) => part !== own)).toEqual([]);
    expect(nodesIn(sent).length).toBeLessThanOrEqual(1);
    expect(sent.filter(isTwoPhase)).toEqual([]);
  });

  test.each([...changeAccess])('%s reads and writes shards of one account only', async (name) => {
    // An operator's calls are recorded in the audit log of the service.
    const most = name === 'createAccount' ? 2 : 1;
    expect(partsIn(await sentBy(name), parts).length).toBeLessThanOrEqual(most);
  });
});

test('looking for what other servers have done asks no shard', async () => {
  const { sent, beside } = await sentWhile(() => new Promise((resolve) => setTimeout(resolve, 5_000)));
  expect([...sent, ...beside]).toEqual([]);
});
