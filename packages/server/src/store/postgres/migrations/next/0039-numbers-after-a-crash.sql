-- On a cluster, the coordinator draws numbers that only workers commit. After a crash of the coordinator, or on a standby that has taken its place,
-- a sequence may have gone back: a draw is synced with the next commit on the coordinator, or when wal_writer_delay is over, which may be later than
-- the commit on the worker. So each time that PostgreSQL has started on the coordinator, its sequences skip numbers.

-- The start of PostgreSQL after which numbers were skipped last; null: the tables are not spread.
ALTER TABLE position ADD COLUMN "skippedAfter" text;

-- Skips numbers if PostgreSQL has started since the last call. When a process crashes, all others start again, which only the time since which statistics
-- are counted shows.
-- Nothing notices when a number of event_order or owner_change_number is drawn again, so these skip more than a coordinator draws in hours. They stay short
-- enough for linkIDs (15 digits) and below the workers' numbers (2^48) for 900,000 starts, and 16 million. The others skip more than a crash can lose; when more
-- were lost, keys refuse the second row with a number. They must not grow faster, because reports count users and contacts in bitmaps, and numbers of accounts
-- and tokens end at 2^31.
CREATE FUNCTION skip_numbers() RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    started text;
  BEGIN
    SELECT concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()), extract(epoch FROM stats_reset)) INTO started FROM pg_stat_bgwriter;
    IF started = (SELECT "skippedAfter" FROM position) THEN
      RETURN;
    END IF;
    PERFORM FROM position FOR UPDATE;
    -- By a statement of its own: another connection may have done it while this one waited.
    IF started = (SELECT "skippedAfter" FROM position) THEN
      RETURN;
    END IF;
    IF (SELECT "skippedAfter" IS NOT NULL FROM position) THEN
      PERFORM setval(name, least(seqmax, coalesce(pg_sequence_last_value(name), seqstart) + CASE name
          WHEN 'event_order'::regclass THEN 1073741824
          WHEN 'owner_change_number'::regclass THEN 16777216
          ELSE 4096
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
