/** SQL functions for a Citus cluster. `firsthand migrate --citus` creates them, and each migration recreates them. */
import { type Connection, lockKeys, type ScriptedConnection } from './connection.ts';

/**
 * Begins a transaction that writes rows of an account and returns the account's state, as `beginHere` in sequencer.ts
 * does. Takes the account's and floor's locks on its worker, because a lost coordinator releases its own locks while
 * the worker can still commit. The shard's lock (5: ShareLock, as a write takes) prevents the shard from moving.
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
      -- A variable, because current_setting in a SELECT that Citus sends to a worker returns the worker's setting.
      patience := coalesce(patience, current_setting('lock_timeout'));
      PERFORM set_config('lock_timeout', patience, true);
      PERFORM pg_advisory_xact_lock_shared(${lockKeys.structure});
      -- Repeats until the shard is the same after its lock is taken, because it may have been split meanwhile.
      LOOP
        shard := get_shard_id_for_distribution_column('account_position', ours);
        PERFORM lock_shard_metadata(5, ARRAY[shard]);
        EXIT WHEN get_shard_id_for_distribution_column('account_position', ours) = shard;
      END LOOP;
      SELECT last_value INTO floor FROM event_order;
      -- The service (0) has no rows to lock. count(*) returns a row, which takes the locks even if the account is deleted.
      IF ours <> 0 THEN
        PERFORM hold_account(ours, alone, floor, patience), count(*) FROM account_position p WHERE p.account = ours;
      END IF;
      PERFORM pg_advisory_xact_lock_shared(${lockKeys.floors} + floor);
      -- Drawn after the locks are taken, so that a reader who sees a greater number also sees these locks, or the rows.
      number := nextval('owner_change_number');
      RETURN QUERY
        SELECT p.account, p.day, p."clockDay", p.catalogues, p.strict, p."browserCatalogue", p."nextEventID"
        FROM account_position p WHERE p.account = ours AND set_config('firsthand.change', number::text, true) IS NOT NULL;
    END $$`;

/**
 * Runs on the account's worker: raises FH003 if a crash could undo a commit there, and makes commits synchronous. The
 * idle timeout releases locks when the coordinator's network is lost, which TCP notices only after two hours.
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

/**
 * The part of begin_writing that runs on the worker. Takes the floor's lock last, so that a transaction that waits for
 * its account does not delay readers of other accounts.
 */
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
 * Skips numbers if PostgreSQL has started on the coordinator since the last call. A draw is synced only with the
 * coordinator's own next commit, so a sequence may go back after a crash or on a promoted standby.
 *
 * - A crashed process restarts all others, which only `stats_reset` shows; pg_stat_reset_shared('bgwriter') counts as a
 *   start.
 * - A promoted standby has a new timeline. It may have missed skips, so it skips 16 times as many.
 * - event_order and owner_change_number skip more than is drawn in seconds, because nothing detects their duplicates.
 * - The others skip only a little more than a crash can lose: reports use bitmaps of their numbers, and accounts and
 *   tokens end at 2^31.
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
      -- A separate statement sees whether another connection skipped while this one waited.
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

/**
 * Identifies the PostgreSQL start after which numbers were last skipped: timeline, start time and time of
 * `stats_reset`.
 */
const addSkipColumn = 'ALTER TABLE position ADD COLUMN IF NOT EXISTS "skippedAfter" text';

/** Functions that Citus creates on each machine, because they run where an account's rows are. */
const distributedFunctions = ['be_durable', 'hold_account', 'held_floors', 'has_no_writer', 'held_floor'];

/**
 * Creates the functions. The tables must already be distributed. Sends each statement separately, because Citus
 * forwards whole messages.
 */
export const createClusterFunctions = async (db: Connection & Pick<ScriptedConnection, 'script'>): Promise<void> => {
  for (const sql of [addSkipColumn, beDurable, holdAccount, beginWriting, skipNumbers]) await db.script(sql);
  const functions = await db.all<{ name: string }>(
    `SELECT oid::regprocedure::text AS name FROM pg_proc
     WHERE proname = ANY ($1::text[]) AND pronamespace = current_schema()::regnamespace`,
    [distributedFunctions],
  );
  for (const { name } of functions) await db.run('SELECT create_distributed_function($1::regprocedure)', [name]);
};
