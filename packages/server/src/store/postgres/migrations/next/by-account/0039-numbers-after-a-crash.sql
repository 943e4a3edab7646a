-- On a cluster, the coordinator draws numbers that only workers commit. After a crash of the coordinator, or on a standby that has taken its place,
-- a sequence may have gone back: a draw is synced with the next commit that writes on the coordinator, or some time later, and the commit on the worker may
-- be earlier. So each time that PostgreSQL has started on the coordinator, its sequences skip numbers.

-- When numbers were skipped last: the timeline, the start of PostgreSQL, and since when it counts statistics; null: no connection has found the tables spread.
ALTER TABLE position ADD COLUMN "skippedAfter" text;

-- Skips numbers if PostgreSQL has started since the last call. When a process crashes, all others start again, which only the time since which statistics
-- are counted shows; so pg_stat_reset_shared('bgwriter') counts as a start. A standby that takes the coordinator's place begins a new timeline. It may have
-- missed skips, so it skips 16 times as many numbers.
-- Nothing notices when a number of event_order or owner_change_number is drawn again, so these skip more than is drawn in seconds. The others skip more than
-- a crash can lose. They must not grow faster, because reports count users and contacts in bitmaps, and numbers of accounts and tokens end at 2^31.
CREATE FUNCTION skip_numbers() RETURNS void LANGUAGE plpgsql AS $$
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
  END $$;

-- Nobody knows whether PostgreSQL has crashed on a coordinator before.
DO $$ BEGIN
  IF to_regclass('pg_dist_partition') IS NOT NULL THEN
    IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'account_position'::regclass) THEN
      UPDATE position SET "skippedAfter" = '';
      PERFORM skip_numbers();
    END IF;
  END IF;
END $$;
