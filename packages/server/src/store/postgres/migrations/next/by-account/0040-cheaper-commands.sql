-- Makes what a cluster does for each commit and for each page cheaper: a command takes several times as long as the statement in it.

-- New in these three: a key that is computed in a tenth of the time of md5(). The states of accounts are read by an index scan: preparing a bitmap scan took
-- longer than reading them.
CREATE OR REPLACE FUNCTION read_shards(ours integer[], sqls text[], tables text[], bounds integer[], integers integer[], bigints bigint[],
  byteas bytea[], uuids uuid[], texts text[]) RETURNS json LANGUAGE plpgsql AS $$
  DECLARE
    key text := to_hex(hashtextextended(sqls[1] || tables::text, 0));
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

CREATE OR REPLACE FUNCTION carry_out_shard_call() RETURNS trigger LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
  DECLARE
    key text := to_hex(hashtextextended(NEW.sqls[1] || NEW.tables::text, 0));
    bounds integer[] := NEW.bounds;
    returned bigint;
  BEGIN
    -- The coordinator has chosen the shard of this table; this machine chooses those of the others, by what it knows. When Citus has just divided the
    -- shard, it may not know that yet (FH002).
    IF to_regclass('pg_dist_partition') IS NOT NULL THEN
      IF to_regclass(shard_name('shard_call'::regclass, get_shard_id_for_distribution_column('shard_call'::regclass, NEW.account)))
        IS DISTINCT FROM TG_RELID
      THEN
        RAISE EXCEPTION 'this machine does not know the shards of account % yet', NEW.account USING ERRCODE = 'FH002';
      END IF;
    END IF;
    BEGIN
      FOR nth IN 1 .. cardinality(NEW.ours) LOOP
        IF bounds IS NULL THEN
          EXECUTE with_shards(NEW.ours[nth], NEW.sqls[nth], NEW.tables)
            USING NEW.integers, NEW.bigints, NEW.byteas, NEW.uuids, NEW.texts;
        ELSE
          EXECUTE as_prepared(NEW.ours[nth], key, NEW.sqls[1], NEW.tables, bounds[nth:nth][11:],
            NEW.integers[bounds[nth][1]:bounds[nth][2]], NEW.bigints[bounds[nth][3]:bounds[nth][4]],
            NEW.byteas[bounds[nth][5]:bounds[nth][6]], NEW.uuids[bounds[nth][7]:bounds[nth][8]],
            NEW.texts[bounds[nth][9]:bounds[nth][10]]);
        END IF;
        GET DIAGNOSTICS returned = ROW_COUNT;
        IF returned < NEW."mustReturn"[nth] THEN
          NEW.ours := '{}';
          NEW.sqls := '{}';
          NEW.tables := '{}';
          NEW.bounds := NULL;
          NEW.integers := NULL;
          NEW.bigints := NULL;
          NEW.byteas := NULL;
          NEW.uuids := NULL;
          NEW.texts := NULL;
          RETURN NEW;
        END IF;
      END LOOP;
    EXCEPTION
      -- The context of the error is the text of the EXECUTE. The coordinator would log it, too.
      WHEN query_canceled OR OTHERS THEN
        RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = SQLERRM;
    END;
    RETURN NULL;
  END $$;

CREATE OR REPLACE FUNCTION begin_on_shards(ours integer[], shards bigint[], alone boolean, floor bigint, patience text) RETURNS json
LANGUAGE plpgsql SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan AS $$
  DECLARE
    sql text := 'SELECT account, day, "clockDay", catalogues AS version, strict, "browserCatalogue", "nextEventID" FROM %1$s WHERE account = ANY ($1)';
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
      FOR state IN EXECUTE as_prepared(part.first, 'states', sql, '{account_position}', NULL, part.accounts, NULL, NULL, NULL, NULL) LOOP
        states := states || row_to_json(state);
      END LOOP;
    END LOOP;
    RETURN array_to_json(states);
  END $$;

-- Whether no other session writes rows of the account now. It tries to take the lock that writers share, and releases it at once: reading all locks takes a
-- hundred times as long. Both calls are in one expression, so a statement that is cancelled does not keep the lock. False also while another session does the same.
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

-- Runs a statement of one account on its shards, and returns its one value; for what else it returns, see below. `tables` are those for %1$s, %2$s, … of the
-- SQL, and `given` are the values of its parameters as text. A session finds a statement that it has prepared by `key`, which must differ for each pair of `sql`
-- and `tables`. `place` is the shard of account_position that has the account's row, as the coordinator knows it. An error is raised again without its context,
-- which has the values. The first four settings are walkingInOrder (event-order.ts). With these, PostgreSQL would plan each time, because a plan for all values looks
-- dearer than it is.
CREATE FUNCTION read_together(ours integer, place oid, key text, sql text, tables text[], given text[], unwritten boolean) RETURNS json LANGUAGE plpgsql
SET enable_bitmapscan = off SET enable_sort = off SET jit = off SET max_parallel_workers_per_gather = 0 SET plan_cache_mode = force_generic_plan
SET bytea_output = hex AS $$
  DECLARE
    shard bigint := get_shard_id_for_distribution_column('account_position', ours);
    name text := 'read_' || key || '_' || shard;
    earlier text;
    value json;
  BEGIN
    -- False: the account is gone, or this machine does not know yet what Citus has just divided.
    IF to_regclass(shard_name('account_position', shard)) IS DISTINCT FROM place THEN
      RETURN to_json(false);
    END IF;
    BEGIN
      -- A setting, because it takes longer to look for the statement in pg_prepared_statements than to execute it.
      IF coalesce(current_setting('firsthand.' || name, true), '') = '' THEN
        -- Null: it is not prepared.
        IF sql IS NULL THEN
          RETURN NULL;
        END IF;
        -- A plan of a database with events of 24 months takes some 140 kB.
        IF (SELECT count(*) FROM pg_prepared_statements AS s WHERE starts_with(s.name, 'read_')) >= 256 THEN
          FOR earlier IN SELECT s.name FROM pg_prepared_statements AS s WHERE starts_with(s.name, 'read_') LOOP
            EXECUTE format('DEALLOCATE %I', earlier);
            PERFORM set_config('firsthand.' || earlier, '', false);
          END LOOP;
        END IF;
        BEGIN
          EXECUTE format('PREPARE %I AS %s', name, with_shards(ours, sql, tables));
        EXCEPTION
          -- A transaction that was rolled back has prepared it: only the setting was undone.
          WHEN duplicate_prepared_statement THEN NULL;
        END;
        PERFORM set_config('firsthand.' || name, 'yes', false);
      END IF;
      -- False: the account has a writer, or this transaction has taken its snapshot already.
      IF unwritten AND NOT (current_setting('transaction_isolation') = 'read committed' AND has_no_writer(ours)) THEN
        RETURN to_json(false);
      END IF;
      EXECUTE format('EXECUTE %I(' || left(repeat('%L,', cardinality(given)), -1) || ')', VARIADIC name || given) INTO value;
    EXCEPTION
      -- There is no such prepared statement: a transaction that was rolled back has deallocated it, and only the setting was undone.
      WHEN SQLSTATE '26000' THEN
        PERFORM set_config('firsthand.' || name, '', false);
        RETURN NULL;
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
