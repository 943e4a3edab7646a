/** Distributes the tables over a Citus cluster. Experimental: on a cluster most operations fail (decision 13). */
import { StoreUnusable } from '../../unusable.ts';
import { onOneConnection, type TakenConnection } from './connection.ts';
import { migrate } from './migrate.ts';

/** Tables that every machine holds in full. */
export const referenceTables = [
  'position',
  'kept_day',
  'account',
  'token',
  'audit',
  'account_deletion',
  'catalogue',
  'member',
  'passkey',
  'answered_challenge',
  'share_link',
  'erasure',
  'unknown_proxy',
] as const;

/** Tables that are distributed over the machines by the value of one column. */
export const distributedTables = {
  user_name: 'userUUID',
  contact_name: 'contactUUID',
  contact_address: 'contactEmailaddress',
  contact_external_id: 'contactExternalID',
  claim_name: 'claimID',
  statement_place: 'sequence',
  erased_identifier: 'hash',
  user: 'user',
  statement: 'user',
  user_contact: 'user',
  request_repeat: 'user',
  erased_stretch: 'user',
  contact: 'contact',
  merged_contact: 'contact',
  contact_user: 'contact',
  claim: 'contact',
  erased_contact: 'contact',
  contact_found: 'contact',
  contact_changed: 'contact',
  refused_request: 'token',
  refused_count: 'token',
  contact_term: 'account',
  owner_change: 'account',
  report_segment: 'account',
  report_view: 'account',
  event_total: 'account',
  account_day: 'account',
  event: 'holder',
  event_repeat: 'holder',
} as const;

const spread = async (db: TakenConnection): Promise<void> => {
  const citus = await db.get("SELECT 1 FROM pg_proc WHERE proname = 'create_distributed_table'");
  if (!citus)
    throw new StoreUnusable(
      'this database has no extension citus: CREATE EXTENSION citus adds it where Citus is installed',
    );
  const rows = await db.all<{ name: string }>('SELECT logicalrelid::regclass::text AS name FROM pg_dist_partition');
  const spreadAlready = new Set(rows.map(({ name }) => name.replaceAll('"', '')));
  for (const table of referenceTables) {
    if (!spreadAlready.has(table)) await db.run('SELECT create_reference_table($1)', [`"${table}"`]);
  }
  for (const [table, column] of Object.entries(distributedTables)) {
    if (!spreadAlready.has(table)) await db.run('SELECT create_distributed_table($1, $2)', [`"${table}"`, column]);
  }
};

/** Migrates the database to the schema that this program knows; with `citus`, distributes all tables that are not distributed. */
export const migrateDatabase = async (databaseURL: string, { citus }: { citus: boolean }): Promise<void> => {
  await onOneConnection(databaseURL, async (db) => {
    await migrate(db);
    if (citus) await spread(db);
  });
};
