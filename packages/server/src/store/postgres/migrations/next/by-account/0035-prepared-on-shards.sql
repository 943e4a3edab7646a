-- On a cluster, statements of few rows are prepared where they run, because PostgreSQL takes longer to plan them than to execute them.

-- Prepares a statement for an account's shards, if this session has not done so, and returns SQL that executes it. `bounds` has one row: the first and
-- the last place in each of the five arrays of what the statement gets, then numbers that are $6 of the statement.
CREATE FUNCTION as_prepared(ours integer, sql text, tables text[], bounds integer[], integers integer[], bigints bigint[], byteas bytea[],
  uuids uuid[], texts text[]) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    statement text := with_shards(ours, sql, tables);
    name text := 'firsthand_shard_' || md5(statement);
    -- A setting, because it takes longer to look for the statement in pg_prepared_statements than to execute it.
    mark text := 'firsthand.prepared_' || md5(statement);
  BEGIN
    IF coalesce(current_setting(mark, true), '') = '' THEN
      BEGIN
        EXECUTE format('PREPARE %I (integer[], bigint[], bytea[], uuid[], text[], integer[]) AS %s', name, statement);
      EXCEPTION
        -- A transaction that was rolled back has prepared it: only the setting was undone.
        WHEN duplicate_prepared_statement THEN NULL;
      END;
      PERFORM set_config(mark, 'yes', false);
    END IF;
    RETURN format('EXECUTE %I(%L, %L, %L, %L, %L, %L)', name, integers[bounds[1][1]:bounds[1][2]], bigints[bounds[1][3]:bounds[1][4]],
      byteas[bounds[1][5]:bounds[1][6]], uuids[bounds[1][7]:bounds[1][8]], texts[bounds[1][9]:bounds[1][10]], bounds[:][11:]);
  END $$;

-- Null `bounds`: as before. Otherwise `bounds` has a row for each of `ours`, and `sqls` has one text for all of them, which is prepared.
DROP FUNCTION read_shards(integer[], text[], text[], integer[], bigint[], bytea[], uuid[], text[]);
CREATE FUNCTION read_shards(ours integer[], sqls text[], tables text[], bounds integer[], integers integer[], bigints bigint[], byteas bytea[],
  uuids uuid[], texts text[]) RETURNS json LANGUAGE plpgsql AS $$
  DECLARE
    one record;
    found json[];
  BEGIN
    FOR nth IN 1 .. cardinality(ours) LOOP
      FOR one IN EXECUTE CASE WHEN bounds IS NULL THEN with_shards(ours[nth], sqls[nth], tables)
        ELSE as_prepared(ours[nth], sqls[1], tables, bounds[nth:nth], integers, bigints, byteas, uuids, texts) END
        USING integers, bigints, byteas, uuids, texts LOOP
        found := found || row_to_json(one);
      END LOOP;
    END LOOP;
    RETURN array_to_json(found);
  END $$;

DO $$ BEGIN
  ALTER TABLE shard_call ADD COLUMN bounds integer[];
END $$;
CREATE OR REPLACE FUNCTION carry_out_shard_call() RETURNS trigger LANGUAGE plpgsql AS $$
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
    FOR nth IN 1 .. cardinality(NEW.ours) LOOP
      EXECUTE CASE WHEN NEW.bounds IS NULL THEN with_shards(NEW.ours[nth], NEW.sqls[nth], NEW.tables)
        ELSE as_prepared(NEW.ours[nth], NEW.sqls[1], NEW.tables, NEW.bounds[nth:nth], NEW.integers, NEW.bigints, NEW.byteas, NEW.uuids,
          NEW.texts) END
        USING NEW.integers, NEW.bigints, NEW.byteas, NEW.uuids, NEW.texts;
    END LOOP;
    RETURN NULL;
  END $$;

-- Where the tables are spread already, migrating does not spread anything.
DO $$ BEGIN
  IF to_regclass('pg_dist_partition') IS NOT NULL THEN
    IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'account_position'::regclass) THEN
      PERFORM create_distributed_function(
        'as_prepared(integer, text, text[], integer[], integer[], bigint[], bytea[], uuid[], text[])');
      PERFORM create_distributed_function(
        'read_shards(integer[], text[], text[], integer[], integer[], bigint[], bytea[], uuid[], text[])');
    END IF;
  END IF;
END $$;
