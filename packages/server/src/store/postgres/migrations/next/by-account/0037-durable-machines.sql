-- The machines of a cluster check themselves that their commits are durable: a server checks and sets only its sessions on the coordinator. Errors of statements
-- on shards that return rows have no values, like those of statements that write.

-- New: the errors of a statement are raised again without their context, like those of carry_out_shard_call.
CREATE OR REPLACE FUNCTION read_shards(ours integer[], sqls text[], tables text[], bounds integer[], integers integer[], bigints bigint[],
  byteas bytea[], uuids uuid[], texts text[]) RETURNS json LANGUAGE plpgsql AS $$
  DECLARE
    key text := md5(sqls[1] || tables::text);
    one record;
    found json[];
  BEGIN
    BEGIN
      FOR nth IN 1 .. cardinality(ours) LOOP
        IF bounds IS NULL THEN
          FOR one IN EXECUTE with_shards(ours[nth], sqls[nth], tables) USING integers, bigints, byteas, uuids, texts LOOP
            found := found || row_to_json(one);
          END LOOP;
        ELSE
          FOR one IN EXECUTE as_prepared(ours[nth], key, sqls[1], tables, bounds[nth:nth][11:], integers[bounds[nth][1]:bounds[nth][2]],
            bigints[bounds[nth][3]:bounds[nth][4]], byteas[bounds[nth][5]:bounds[nth][6]], uuids[bounds[nth][7]:bounds[nth][8]],
            texts[bounds[nth][9]:bounds[nth][10]]) LOOP
            found := found || row_to_json(one);
          END LOOP;
        END IF;
      END LOOP;
    EXCEPTION
      WHEN query_canceled OR OTHERS THEN
        RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = SQLERRM;
    END;
    RETURN array_to_json(found);
  END $$;

-- Refuses to write on a machine on which a crash could undo a commit (FH003), and has this transaction commit there synchronously. A transaction that
-- began before fsync was turned off may still commit.
CREATE FUNCTION be_durable() RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    IF current_setting('fsync') <> 'on' THEN
      RAISE EXCEPTION 'a machine that has shards runs with fsync = off: turn it on' USING ERRCODE = 'FH003';
    END IF;
    IF current_setting('synchronous_commit') = 'off' THEN
      PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
  END $$;

-- New: be_durable() is called.
CREATE OR REPLACE FUNCTION begin_on_shards(ours integer[], shards bigint[], alone boolean, floor bigint, patience text) RETURNS json
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
  DECLARE
    sql text := 'SELECT account, day, "clockDay", catalogues AS version, strict, "browserCatalogue", "nextEventID" FROM %1$s WHERE account = ANY ($1)';
    key text := md5(sql);
    part record;
    state record;
    states json[];
  BEGIN
    PERFORM be_durable();
    -- This machine may not know yet what Citus has just divided.
    IF EXISTS (
      SELECT FROM unnest(ours, shards) AS given (account, shard)
      WHERE get_shard_id_for_distribution_column('account_position', account) IS DISTINCT FROM shard
    ) THEN
      RAISE EXCEPTION 'this machine does not know the shards of accounts % yet', ours USING ERRCODE = 'FH002';
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
    -- After the locks, each by a statement of its own: it must see what was committed while this transaction waited.
    FOR part IN
      SELECT min(account) AS first, array_agg(account) AS accounts FROM unnest(ours, shards) AS given (account, shard) GROUP BY shard
    LOOP
      FOR state IN EXECUTE as_prepared(part.first, key, sql, '{account_position}', NULL, part.accounts, NULL, NULL, NULL, NULL) LOOP
        states := states || row_to_json(state);
      END LOOP;
    END LOOP;
    RETURN array_to_json(states);
  END $$;

-- Where the tables are spread already, `migrate` does not distribute new functions.
DO $$ BEGIN
  IF to_regclass('pg_dist_partition') IS NOT NULL THEN
    IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'account_position'::regclass) THEN
      PERFORM create_distributed_function('be_durable()');
    END IF;
  END IF;
END $$;
