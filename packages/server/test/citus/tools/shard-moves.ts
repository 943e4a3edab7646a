// Moves an account's shards from one worker to another.
import { querySQL } from '../../fixtures/postgres/sql.ts';

interface Worker {
  readonly name: string;
  readonly port: number;
}

/** Returns the workers. The account's own worker is first. */
export const listWorkers = (databaseURL: string, account: number) =>
  querySQL<Worker>(
    databaseURL,
    `SELECT nodename AS name, nodeport AS port FROM pg_dist_node n
     WHERE groupid > 0
     ORDER BY groupid IN (SELECT groupid FROM pg_dist_placement
       WHERE shardid = get_shard_id_for_distribution_column('event', ${account})) DESC, groupid`,
  );

export const moveShards = async (databaseURL: string, account: number): Promise<void> => {
  const [from, to] = (await listWorkers(databaseURL, account)) as [Worker, Worker];
  await querySQL(
    databaseURL,
    `SELECT citus_move_shard_placement(get_shard_id_for_distribution_column('event', ${account}),
       '${from.name}', ${from.port}, '${to.name}', ${to.port}, 'block_writes')`,
  );
};
