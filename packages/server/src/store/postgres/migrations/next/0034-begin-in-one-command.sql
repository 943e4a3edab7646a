-- On a cluster, a transaction begins with one command for the machine that has its accounts' rows, and a second one only when it may change owners.

-- What begin_writing does there: sets settings, takes locks, and returns the states of accounts as JSON; null: none is there.
CREATE FUNCTION begin_on_shards(first integer, shard bigint, ours integer[], alone boolean, floor bigint, patience text) RETURNS json
LANGUAGE plpgsql AS $$
  DECLARE
    states json;
  BEGIN
    -- The coordinator has chosen the shard; this machine chooses those of the statements, by what it knows. When Citus has just divided the shard, it
    -- may not know that yet. 57P03: cannot connect now.
    IF get_shard_id_for_distribution_column('account_position', first) IS DISTINCT FROM shard THEN
      RAISE EXCEPTION 'this machine does not know the shards of account % yet', first USING ERRCODE = '57P03';
    END IF;
    -- Without a number of its own, a change of owners fails.
    PERFORM set_config('lock_timeout', patience, true), set_config('firsthand.change', 'none', true);
    -- The floor's lock comes last: whoever waits for an account's lock must not hold up readers of the other accounts.
    IF alone THEN
      PERFORM pg_advisory_xact_lock(3746994889972252672 + one) FROM unnest(ours) AS one;
    ELSE
      PERFORM pg_advisory_xact_lock_shared(3746994889972252672 + one) FROM unnest(ours) AS one;
    END IF;
    PERFORM pg_advisory_xact_lock_shared(4611686018427387904 + floor);
    -- A statement of its own: it must see what was committed while this transaction waited.
    EXECUTE with_shards(first, 'SELECT json_agg(state) FROM (SELECT account, day, "clockDay", catalogues AS version, strict, "browserCatalogue",
      "nextEventID" FROM %1$s WHERE account = ANY ($1)) AS state', '{account_position}') INTO states USING ours;
    RETURN states;
  END $$;

-- Begins a transaction of accounts that are in the same shards; `changing`: which may change owners. The floor is read before the accounts' locks are
-- taken, so that one command takes both kinds. It may be lower than necessary then. That is safe: readers wait a little longer.
DROP FUNCTION begin_writing(integer[], boolean);
CREATE FUNCTION begin_writing(ours integer[], alone boolean, changing boolean)
RETURNS TABLE (account integer, day integer, "clockDay" integer, version bigint, strict boolean, "browserCatalogue" boolean,
  "nextEventID" integer) LANGUAGE plpgsql AS $$
  #variable_conflict use_column
  DECLARE
    -- Citus plans a text with `account = first` once for a connection, but not one with `account = ours[1]`.
    first integer := ours[1];
    last bigint;
    number bigint;
    shard bigint;
    states json;
  BEGIN
    PERFORM pg_advisory_xact_lock_shared(2305843009213693952);
    -- Until it is the same after the lock is taken: a shard that was divided meanwhile has become two others. 5: ShareLock, as of a write.
    LOOP
      SELECT get_shard_id_for_distribution_column('account_position', first) INTO shard;
      PERFORM lock_shard_metadata(5, ARRAY[shard]);
      EXIT WHEN get_shard_id_for_distribution_column('account_position', first) = shard;
    END LOOP;
    IF EXISTS (
      SELECT FROM unnest(ours) AS other WHERE get_shard_id_for_distribution_column('account_position', other) <> shard
    ) THEN
      RAISE EXCEPTION 'accounts of several shards';
    END IF;
    SELECT last_value INTO last FROM event_order;
    -- The service (0) has no rows that are locked: when it writes those of another account, too, the commit stays one of one phase.
    IF first <> 0 THEN
      -- With count(*) there is a row, so that locks are taken, also when the account is gone. The count itself is ignored.
      SELECT begin_on_shards(first, shard, ours, alone, last, current_setting('lock_timeout')), count(*)
        INTO states FROM account_position p WHERE p.account = first;
    END IF;
    PERFORM pg_advisory_xact_lock_shared(4611686018427387904 + last);
    IF changing THEN
      -- After the locks: a reader who sees a greater number of another transaction then sees this one's locks, or its rows (sequencer.ts).
      SELECT nextval('owner_change_number') INTO number;
      PERFORM set_config('firsthand.change', number::text, true) FROM account_position p WHERE p.account = first;
    END IF;
    IF states IS NULL AND cardinality(ours) > 1 THEN
      RAISE EXCEPTION 'account % is gone', first;
    END IF;
    RETURN QUERY SELECT * FROM json_to_recordset(states) AS state (account integer, day integer, "clockDay" integer, version bigint,
      strict boolean, "browserCatalogue" boolean, "nextEventID" integer);
  END $$;

-- Where the tables are spread already, migrating does not spread anything.
DO $$ BEGIN
  IF to_regclass('pg_dist_partition') IS NOT NULL THEN
    IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'account_position'::regclass) THEN
      PERFORM create_distributed_function('begin_on_shards(integer, bigint, integer[], boolean, bigint, text)');
    END IF;
  END IF;
END $$;
