/** Functions that only a Citus cluster has. `firsthand migrate --citus` makes them, and each migration of a cluster makes them again. */
import { type Connection, lockKeys, type ScriptedConnection } from './connection.ts';

/**
 * Begins a transaction that writes rows of an account, as `beginHere` in sequencer.ts does on one PostgreSQL: takes its locks, and returns the
 * account's state. The locks of the account and of the floor are taken on the machine that has its rows, because the coordinator gives up its
 * own locks when it is lost, while the machine may still commit. The shard's lock (5: ShareLock, as of a write) keeps the rows there.
 */
const beginWriting = `
  CREATE OR REPLACE FUNCTION begin_writing(ours integer, alone boolean, patience text)
  RETURNS TABLE (account integer, day integer, "clockDay" integer, version bigint, strict boolean, "browserCatalogue" boolean,
    "nextEventID" integer) LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    DECLARE
      shard bigint;
      floor bigint;
      number bigint;
    BEGIN
      -- Into a variable: in a SELECT that Citus sends to a machine, current_setting would be that of the machine.
      patience := coalesce(patience, current_setting('lock_timeout'));
      PERFORM set_config('lock_timeout', patience, true);
      PERFORM pg_advisory_xact_lock_shared(${lockKeys.structure});
      -- Until it is the same after its lock is taken: a shard that was divided meanwhile has become two others.
      LOOP
        shard := get_shard_id_for_distribution_column('account_position', ours);
        PERFORM lock_shard_metadata(5, ARRAY[shard]);
        EXIT WHEN get_shard_id_for_distribution_column('account_position', ours) = shard;
      END LOOP;
      SELECT last_value INTO floor FROM event_order;
      -- The service (0) has no rows that are locked. With count(*) there is a row, so that locks are taken, also when the account is gone.
      IF ours <> 0 THEN
        PERFORM hold_account(ours, alone, floor, patience), count(*) FROM account_position p WHERE p.account = ours;
      END IF;
      PERFORM pg_advisory_xact_lock_shared(${lockKeys.floors} + floor);
      -- After the locks: a reader who sees a greater number of another transaction then sees this one's locks, or its rows.
      number := nextval('owner_change_number');
      RETURN QUERY
        SELECT p.account, p.day, p."clockDay", p.catalogues, p.strict, p."browserCatalogue", p."nextEventID"
        FROM account_position p WHERE p.account = ours AND set_config('firsthand.change', number::text, true) IS NOT NULL;
    END $$`;

/**
 * Runs on the machine of an account: refuses to write where a crash could undo a commit (FH003), and commits synchronously. A transaction ends
 * after a minute without a statement: when the coordinator's network is lost, TCP notices that after two hours, and the locks would be held.
 */
const beDurable = `
  CREATE OR REPLACE FUNCTION be_durable() RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      IF current_setting('fsync') <> 'on' THEN
        RAISE EXCEPTION 'a machine that has shards runs with fsync = off: turn it on' USING ERRCODE = 'FH003';
      END IF;
      IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
      END IF;
      PERFORM set_config('idle_in_transaction_session_timeout', '60s', true);
    END $$`;

/** The part of begin_writing that runs there. The floor's lock comes last: a transaction that waits for an account must not delay readers of others. */
const holdAccount = `
  CREATE OR REPLACE FUNCTION hold_account(ours integer, alone boolean, floor bigint, patience text) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM be_durable(), set_config('lock_timeout', patience, true);
      IF alone THEN
        PERFORM pg_advisory_xact_lock(${lockKeys.accounts} + ours);
      ELSE
        PERFORM pg_advisory_xact_lock_shared(${lockKeys.accounts} + ours);
      END IF;
      PERFORM pg_advisory_xact_lock_shared(${lockKeys.floors} + floor);
    END $$`;

/**
 * Skips numbers if PostgreSQL has started on the coordinator since the last call. It draws numbers that only workers commit: a draw is synced with
 * the coordinator's next commit of its own, so after a crash, or on a standby that takes its place, a sequence may have gone back.
 *
 * When a process crashes, all others start again, which only the time since which statistics are counted shows; so pg_stat_reset_shared('bgwriter')
 * counts as a start. A standby begins a new timeline; it may have missed skips, so it skips 16 times as many. Nothing notices when a number of
 * event_order or owner_change_number is drawn again, so these skip more than is drawn in seconds; the others more than a crash can lose. They must not
 * grow faster, because reports count users and contacts in bitmaps, and numbers of accounts and tokens end at 2^31.
 */
const skipNumbers = `
  CREATE OR REPLACE FUNCTION skip_numbers() RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
      timeline text;
      started text;
      skips integer;
    BEGIN
      IF pg_is_in_recovery() THEN
        RAISE EXCEPTION 'this coordinator is a standby' USING ERRCODE = 'read_only_sql_transaction';
      END IF;
      timeline := left(pg_walfile_name(pg_current_wal_insert_lsn()), 8);
      SELECT concat_ws(' ', timeline, extract(epoch FROM pg_postmaster_start_time()), extract(epoch FROM stats_reset)) INTO started FROM pg_stat_bgwriter;
      IF started = (SELECT "skippedAfter" FROM position) THEN
        RETURN;
      END IF;
      PERFORM FROM position FOR UPDATE;
      -- By a statement of its own: another connection may have done it while this one waited.
      IF started = (SELECT "skippedAfter" FROM position) THEN
        RETURN;
      END IF;
      SELECT CASE WHEN starts_with("skippedAfter", timeline) THEN 1 ELSE 16 END INTO skips FROM position WHERE "skippedAfter" IS NOT NULL;
      IF FOUND THEN
        PERFORM setval(name, least(seqmax, coalesce(pg_sequence_last_value(name), seqstart) + skips * CASE
            WHEN name IN ('event_order'::regclass, 'owner_change_number'::regclass) THEN 1048576
            ELSE 16384
          END))
        FROM unnest('{event_order, owner_change_number, user_number, contact_number, contact_change_number, claim_number, erasure_number,
            refused_number, account_account_seq, token_token_seq, audit_audit_seq, catalogue_nth_seq}'::regclass[]) AS name
          JOIN pg_sequence ON seqrelid = name;
      END IF;
      UPDATE position SET "skippedAfter" = started;
    END $$`;

/** When numbers were skipped last: the timeline, the start of PostgreSQL, and since when it counts statistics. */
const rememberSkips = 'ALTER TABLE position ADD COLUMN IF NOT EXISTS "skippedAfter" text';

/** Functions that Citus makes on each machine, because they run where an account's rows are. */
const onMachines = ['be_durable', 'hold_account', 'held_floors', 'has_no_writer', 'held_floor'];

/** Makes the functions. The tables must be distributed. Each statement is a message of its own, because Citus sends whole messages on. */
export const makeClusterFunctions = async (db: Connection & Pick<ScriptedConnection, 'script'>): Promise<void> => {
  for (const sql of [rememberSkips, beDurable, holdAccount, beginWriting, skipNumbers]) await db.script(sql);
  const functions = await db.all<{ name: string }>(
    `SELECT oid::regprocedure::text AS name FROM pg_proc
     WHERE proname = ANY ($1::text[]) AND pronamespace = current_schema()::regnamespace`,
    [onMachines],
  );
  for (const { name } of functions) await db.run('SELECT create_distributed_function($1::regprocedure)', [name]);
};
