-- Makes a page of events cheaper on a cluster, where each command takes several times as long as the statement in it.

-- Whether no other session writes rows of the account now. It tries to take the lock that writers share, and returns it at once: reading all locks takes a
-- hundred times as long. Both calls are in one expression, between which no cancellation of the statement is noticed.
CREATE FUNCTION has_no_writer(ours integer) RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN
    RETURN pg_try_advisory_lock(3746994889972252672 + ours) AND pg_advisory_unlock(3746994889972252672 + ours);
  END $$;

-- The lowest floor that a writer of the account holds; null: none holds one.
CREATE FUNCTION held_floor(ours integer) RETURNS bigint LANGUAGE plpgsql AS $$
  BEGIN
    IF has_no_writer(ours) THEN
      RETURN NULL;
    END IF;
    RETURN (SELECT min(floor) FROM held_floors(ours));
  END $$;

-- Runs a statement of one account on its shards, and returns its one value. A session finds the statement that it has prepared by `key`. `tables` are those for %1$s, %2$s,
-- … of the SQL, and `given` are the values of its parameters as text. `place` is the shard of account_position that has the account's row, as the coordinator
-- knows it; null: it has none. Returns false then, and with `unwritten`, where the account has a writer before the statement takes its snapshot. Returns null where the
-- SQL is null and the session has not prepared the statement. An error is raised again without its context, which has the values. The settings are those of
-- transactions that read events in order (event-order.ts). Without the last, PostgreSQL would plan each time: costs that the others add hide what it would save.
CREATE FUNCTION read_together(ours integer, place oid, key text, sql text, tables text[], given text[], unwritten boolean) RETURNS json LANGUAGE plpgsql
SET enable_bitmapscan = off SET enable_sort = off SET jit = off SET max_parallel_workers_per_gather = 0 SET plan_cache_mode = force_generic_plan AS $$
  DECLARE
    shard bigint := get_shard_id_for_distribution_column('account_position', ours);
    name text := 'read_' || key || '_' || shard;
    value json;
  BEGIN
    IF place IS NULL THEN
      RETURN to_json(false);
    END IF;
    -- This machine may not know yet what Citus has just divided.
    IF to_regclass(shard_name('account_position', shard)) IS DISTINCT FROM place THEN
      RAISE EXCEPTION 'this machine does not know the shards of account % yet', ours USING ERRCODE = 'FH002';
    END IF;
    BEGIN
      -- A setting, because it takes longer to look for the statement in pg_prepared_statements than to execute it.
      IF coalesce(current_setting('firsthand.' || name, true), '') = '' THEN
        IF sql IS NULL THEN
          RETURN NULL;
        END IF;
        BEGIN
          EXECUTE format('PREPARE %I AS %s', name, with_shards(ours, sql, tables));
        EXCEPTION
          -- A transaction that was rolled back has prepared it: only the setting was undone.
          WHEN duplicate_prepared_statement THEN NULL;
        END;
        PERFORM set_config('firsthand.' || name, 'yes', false);
      END IF;
      IF unwritten AND NOT has_no_writer(ours) THEN
        RETURN to_json(false);
      END IF;
      EXECUTE format('EXECUTE %I(' || left(repeat('%L,', cardinality(given)), -1) || ')', VARIADIC name || given) INTO value;
    EXCEPTION
      WHEN query_canceled OR OTHERS THEN
        RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = SQLERRM;
    END;
    RETURN value;
  END $$;

-- Where the tables are spread already, `migrate` does not distribute new functions.
DO $$ BEGIN
  IF to_regclass('pg_dist_partition') IS NOT NULL THEN
    IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'account_position'::regclass) THEN
      PERFORM create_distributed_function('has_no_writer(integer)'), create_distributed_function('held_floor(integer)'),
        create_distributed_function('read_together(integer, oid, text, text, text[], text[], boolean)');
    END IF;
  END IF;
END $$;
