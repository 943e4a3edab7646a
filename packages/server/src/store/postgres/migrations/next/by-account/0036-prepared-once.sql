-- Makes statements on the shards of a cluster cheaper:
-- - The statement of a shard gets only that shard's values. PL/pgSQL copies each array of EXECUTE … USING, and each argument of its functions: all values of
--   a commit were copied several times for each of its shards.
-- - A session finds a prepared statement by the number of the shard. Putting the names of the shard's tables into the text and computing its digest took
--   longer than executing a statement of one row.
-- - The states of accounts are read by a prepared statement, which is planned once. PostgreSQL itself would plan `= ANY ($1)` anew each time.
-- - A command can report that a statement has not stored all its rows.

-- Prepares a statement for an account's shards, unless this session has done so, and returns SQL that executes it. `key` must differ for each pair of `sql`
-- and `tables`. The arrays have the values of this shard only, and `bounds` is $6 of the statement.
DROP FUNCTION as_prepared(integer, text, text[], integer[], integer[], bigint[], bytea[], uuid[], text[]);
CREATE FUNCTION as_prepared(ours integer, key text, sql text, tables text[], bounds integer[], integers integer[], bigints bigint[],
  byteas bytea[], uuids uuid[], texts text[]) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    -- An account's shards of all tables are made, moved and divided together.
    name text := 'shard_' || key || '_' || get_shard_id_for_distribution_column('account_position', ours);
    -- A setting, because it takes longer to look for the statement in pg_prepared_statements than to execute it.
    mark text := 'firsthand.' || name;
  BEGIN
    IF coalesce(current_setting(mark, true), '') = '' THEN
      BEGIN
        EXECUTE format('PREPARE %I (integer[], bigint[], bytea[], uuid[], text[], integer[]) AS %s', name, with_shards(ours, sql, tables));
      EXCEPTION
        -- A transaction that was rolled back has prepared it: only the setting was undone.
        WHEN duplicate_prepared_statement THEN NULL;
      END;
      PERFORM set_config(mark, 'yes', false);
    END IF;
    RETURN format('EXECUTE %I(%L, %L, %L, %L, %L, %L)', name, integers, bigints, byteas, uuids, texts, bounds);
  END $$;

-- A row of `bounds` has the first and the last place in each of the five arrays of what a shard gets, then the numbers of $6. Null: nothing is prepared.
CREATE OR REPLACE FUNCTION read_shards(ours integer[], sqls text[], tables text[], bounds integer[], integers integer[], bigints bigint[],
  byteas bytea[], uuids uuid[], texts text[]) RETURNS json LANGUAGE plpgsql AS $$
  DECLARE
    key text := md5(sqls[1] || tables::text);
    one record;
    found json[];
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
    RETURN array_to_json(found);
  END $$;

DO $$ BEGIN
  ALTER TABLE shard_call ADD COLUMN "mustReturn" integer[];
END $$;
-- Runs the statements of a row, which is not stored. `mustReturn` says how many rows each shard's statement must return; null: any number. When one returns
-- fewer, a row without values is stored, and the caller must roll back. The errors of a statement are raised again without their context: it has the values of
-- the statement, which PostgreSQL would write into its log, where no erasure finds them. When PostgreSQL ends the session (FATAL), it still may.
-- force_generic_plan: PostgreSQL would plan the first five executions of each prepared statement otherwise.
CREATE OR REPLACE FUNCTION carry_out_shard_call() RETURNS trigger LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
  DECLARE
    key text := md5(NEW.sqls[1] || NEW.tables::text);
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

-- The part of begin_writing that runs on the machine of its accounts. Sets settings, takes locks, and returns the states of those accounts that exist, as
-- JSON; null: none. `shards` are those of `ours`, as the coordinator knows them.
CREATE OR REPLACE FUNCTION begin_on_shards(ours integer[], shards bigint[], alone boolean, floor bigint, patience text) RETURNS json
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
  DECLARE
    sql text := 'SELECT account, day, "clockDay", catalogues AS version, strict, "browserCatalogue", "nextEventID" FROM %1$s WHERE account = ANY ($1)';
    key text := md5(sql);
    part record;
    state record;
    states json[];
  BEGIN
    -- As above: this machine may not know yet what Citus has just divided.
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
      PERFORM create_distributed_function(
        'as_prepared(integer, text, text, text[], integer[], integer[], bigint[], bytea[], uuid[], text[])');
    END IF;
  END IF;
END $$;
