-- Triggers number the changes of owners. On a Citus cluster they run on the machine that has the account's rows, which draws from a part of
-- the sequence of its own: when the rows have moved to another machine, later changes may have lower numbers, and nobody who has read the
-- earlier ones would read them. There, `change` is a number that begin_writing draws for the transaction, on the coordinator; `part` tells
-- the changes of one transaction apart.
CREATE FUNCTION owner_change_now() RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT coalesce(nullif(current_setting('firsthand.change', true), '')::bigint, nextval('owner_change_number'))
$$;
-- On a cluster, each statement about a table of accounts goes by itself.
DO $$ BEGIN
  ALTER TABLE owner_change ADD COLUMN part bigint NOT NULL DEFAULT 0;
  ALTER TABLE owner_change ALTER COLUMN part SET DEFAULT nextval('owner_change_number');
  ALTER TABLE owner_change ALTER COLUMN change SET DEFAULT owner_change_now();
  ALTER TABLE owner_change DROP CONSTRAINT owner_change_pkey;
  ALTER TABLE owner_change ADD PRIMARY KEY (account, change, part);
  -- Those that other machines have numbered (from 2^48 on): readers begin again.
  DELETE FROM owner_change WHERE change >= 281474976710656;
END $$;

-- A transaction that has begun also keeps the account's rows from moving to another machine, where nobody would see its locks.
CREATE OR REPLACE FUNCTION begin_writing(ours integer, alone boolean)
RETURNS TABLE (account integer, day integer, "clockDay" integer, version bigint, strict boolean, "browserCatalogue" boolean,
  "nextEventID" integer) LANGUAGE plpgsql AS $$
  #variable_conflict use_column
  DECLARE
    floor bigint;
    number bigint;
    shard bigint;
  BEGIN
    PERFORM pg_advisory_xact_lock_shared(2305843009213693952);
    IF to_regclass('pg_dist_partition') IS NOT NULL THEN
      -- Until it is the same after the lock is taken: a shard that was divided meanwhile has become two others. 5: ShareLock, as of a write.
      LOOP
        SELECT get_shard_id_for_distribution_column('account_position', ours) INTO shard;
        PERFORM lock_shard_metadata(5, ARRAY[shard]);
        EXIT WHEN get_shard_id_for_distribution_column('account_position', ours) = shard;
      END LOOP;
    END IF;
    IF alone THEN
      PERFORM pg_advisory_xact_lock(3746994889972252672 + p.account) FROM account_position p WHERE p.account = ours;
    ELSE
      PERFORM pg_advisory_xact_lock_shared(3746994889972252672 + p.account) FROM account_position p WHERE p.account = ours;
    END IF;
    SELECT last_value INTO floor FROM event_order;
    PERFORM pg_advisory_xact_lock_shared(4611686018427387904 + floor);
    PERFORM pg_advisory_xact_lock_shared(4611686018427387904 + floor) FROM account_position p WHERE p.account = ours;
    -- After the locks: a reader who sees a greater number of another transaction then sees this one's locks, or its rows (sequencer.ts).
    SELECT nextval('owner_change_number') INTO number;
    RETURN QUERY SELECT p.account, p.day, p."clockDay", p.catalogues, p.strict, p."browserCatalogue", p."nextEventID"
      FROM account_position p
      WHERE p.account = ours AND set_config('firsthand.change', number::text, true) IS NOT NULL;
  END $$;
