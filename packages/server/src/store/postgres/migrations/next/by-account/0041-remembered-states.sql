-- Makes commits of events cheaper on a cluster:
-- - A server remembers the states of accounts, and a transaction does not ask for those. The statement that stores the keys of its events stores none if the state has
--   changed (dedup.ts).
-- - The values of each shard arrive as SQL text. Before, they were converted four times between arrays and text, which took a tenth of the time on the machine.
-- - A text for one row of each statement has the places of the values. Other texts get them as a parameter.
-- - A transaction draws sequences with the command that begins it.
-- - begin_writing uses generic plans: finding the machines of 14 shards took 8 µs instead of 62.

DROP FUNCTION begin_writing(integer[], boolean, boolean, text);
DROP FUNCTION begin_on_shards(integer[], bigint[], boolean, bigint, text);
DROP FUNCTION read_shards(integer[], text[], text[], integer[], integer[], bigint[], bytea[], uuid[], text[]);
DROP FUNCTION as_prepared(integer, text, text, text[], integer[], integer[], bigint[], bytea[], uuid[], text[]);

-- Prepares a statement for the shards of an account. `sql` is what follows the name in PREPARE, with %1$s, %2$s, … for the tables. A setting says that a session
-- has prepared it, because it takes longer to look for it in pg_prepared_statements than to execute it. Callers read the setting themselves: a call of this
-- function for each shard would take some 2 µs.
CREATE FUNCTION prepare_on_shard(name text, ours integer, sql text, tables text[]) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    BEGIN
      EXECUTE format('PREPARE %I ', name) || with_shards(ours, sql, tables);
    EXCEPTION
      -- A transaction that was rolled back has prepared it: only the setting was undone.
      WHEN duplicate_prepared_statement THEN NULL;
    END;
    PERFORM set_config('firsthand.' || name, 'yes', false);
  END $$;

-- Begins a transaction of accounts that are on one machine (0034-commits-of-a-machine.sql). Returns the shards of `ours`, in their order, the states of those
-- of `unknown` that exist, and new numbers of event_order, as many as `count` says. Spaces separate numbers and parts of a state, and commas states. Null: none.
CREATE FUNCTION begin_writing(ours integer[], unknown integer[], alone boolean, changing boolean, patience text, count integer,
  OUT shards text, OUT states text, OUT sequences text) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
  DECLARE
    -- Citus plans a text with `account = first` once for a connection, but not one with `account = ours[1]`.
    first integer := ours[1];
    last bigint;
    number bigint;
    each bigint[];
    of_each bigint[];
    known bigint[];
    placed bigint;
    lowest integer;
    highest integer;
    present bigint;
  BEGIN
    -- Into a variable: in a SELECT that Citus sends to a machine, current_setting would be that of the machine.
    patience := coalesce(patience, current_setting('lock_timeout'));
    PERFORM set_config('lock_timeout', patience, true);
    PERFORM pg_advisory_xact_lock_shared(2305843009213693952);
    -- Until all are there after the locks are taken: a shard that was divided meanwhile has become two others. 5: ShareLock, as of a write.
    LOOP
      SELECT array_agg(get_shard_id_for_distribution_column('account_position', one) ORDER BY nth) INTO of_each
        FROM unnest(ours) WITH ORDINALITY AS given (one, nth);
      each := ARRAY(SELECT DISTINCT one FROM unnest(of_each) AS one ORDER BY one);
      PERFORM lock_shard_metadata(5, each);
      SELECT count(DISTINCT shardid), min(groupid), max(groupid) INTO placed, lowest, highest FROM pg_dist_placement WHERE shardid = ANY (each);
      EXIT WHEN placed = cardinality(each) OR of_each = known;
      known := of_each;
    END LOOP;
    IF lowest < highest THEN
      RAISE EXCEPTION 'accounts of several machines' USING ERRCODE = 'FH001';
    END IF;
    SELECT last_value INTO last FROM event_order;
    -- The service (0) has no rows that are locked: when it writes those of another account, too, the commit stays one of one phase.
    IF first <> 0 THEN
      -- With count(*) there is a row, so that locks are taken, also when the account is gone.
      SELECT begin_on_shards(ours, of_each, unknown, alone, last, patience), count(*)
        INTO states, present FROM account_position p WHERE p.account = first;
    END IF;
    PERFORM pg_advisory_xact_lock_shared(4611686018427387904 + last);
    IF changing THEN
      -- After the locks: a reader who sees a greater number of another transaction then sees this one's locks, or its rows (sequencer.ts).
      SELECT nextval('owner_change_number') INTO number;
      PERFORM set_config('firsthand.change', number::text, true) FROM account_position p WHERE p.account = first;
    END IF;
    -- Statements of several accounts go by way of the first.
    IF present = 0 AND cardinality(ours) > 1 THEN
      RAISE EXCEPTION 'account % is gone', first;
    END IF;
    -- After the locks (sequencer.ts).
    IF count > 0 THEN
      SELECT string_agg(nextval('event_order')::text, ' ') INTO sequences FROM generate_series(1, count);
    END IF;
    shards := array_to_string(of_each, ' ');
  END $$;

-- The part of begin_writing that runs on the machine of its accounts: sets settings and takes locks. `shards` are those of `ours`, as the coordinator knows them.
CREATE FUNCTION begin_on_shards(ours integer[], shards bigint[], unknown integer[], alone boolean, floor bigint, patience text) RETURNS text
LANGUAGE plpgsql SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan AS $$
  DECLARE
    sql text := '(integer[]) AS SELECT string_agg(concat_ws('' '', account, day, "clockDay", catalogues, strict, "browserCatalogue", "nextEventID"), '','')
      FROM %1$s WHERE account = ANY ($1)';
    part record;
    name text;
    found text;
    states text;
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
    IF unknown <> '{}' THEN
      -- After the locks, each by a statement of its own: it must see what was committed while this transaction waited.
      FOR part IN
        SELECT shard, min(account) AS first, array_agg(account) AS accounts FROM unnest(ours, shards) AS given (account, shard)
        WHERE account = ANY (unknown) GROUP BY shard
      LOOP
        -- With a number, because a session may outlive this text.
        name := 'states_41_' || part.shard;
        IF current_setting('firsthand.' || name, true) IS DISTINCT FROM 'yes' THEN
          PERFORM prepare_on_shard(name, part.first, sql, '{account_position}');
        END IF;
        EXECUTE format('EXECUTE %I(%L)', name, part.accounts) INTO found;
        IF found IS NOT NULL THEN
          states := concat_ws(',', states, found);
        END IF;
      END LOOP;
    END IF;
    RETURN states;
  END $$;

-- Runs texts of SQL on shards, each on those of one of `ours`, and returns their rows as a JSON array; null: none. $1 to $5 of a text are the arrays.
CREATE FUNCTION read_shards(ours integer[], sqls text[], tables text[], integers integer[], bigints bigint[], byteas bytea[], uuids uuid[],
  texts text[]) RETURNS json LANGUAGE plpgsql AS $$
  DECLARE
    one record;
    found json[];
  BEGIN
    BEGIN
      FOR nth IN 1 .. cardinality(ours) LOOP
        FOR one IN EXECUTE with_shards(ours[nth], sqls[nth], tables) USING integers, bigints, byteas, uuids, texts LOOP
          found := found || row_to_json(one);
        END LOOP;
      END LOOP;
    EXCEPTION
      -- The context of the error is the text of the EXECUTE. The coordinator would log it, too.
      WHEN query_canceled OR OTHERS THEN
        RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = SQLERRM;
    END;
    RETURN array_to_json(found);
  END $$;

-- As read_shards, with statements that are prepared. `prepared` are their texts (prepare_on_shard), and `keys` are parts of their names, which must differ for each
-- text and its tables. `kinds` is for each shard the place of its text, and `arguments` has the values of its parameters, as SQL. chr(31) separates texts.
CREATE FUNCTION read_prepared(ours integer[], tables text[], keys text[], kinds integer[], prepared text, arguments text) RETURNS json
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
  DECLARE
    own text[] := string_to_array(arguments, chr(31));
    name text;
    one record;
    found json[];
  BEGIN
    BEGIN
      FOR nth IN 1 .. cardinality(ours) LOOP
        -- An account's shards of all tables are made, moved and divided together.
        name := 'shard_' || keys[kinds[nth]] || '_' || get_shard_id_for_distribution_column('account_position', ours[nth]);
        IF current_setting('firsthand.' || name, true) IS DISTINCT FROM 'yes' THEN
          PERFORM prepare_on_shard(name, ours[nth], split_part(prepared, chr(31), kinds[nth]), tables);
        END IF;
        FOR one IN EXECUTE 'EXECUTE ' || name || '(' || own[nth] || ')' LOOP
          found := found || row_to_json(one);
        END LOOP;
      END LOOP;
    EXCEPTION
      WHEN query_canceled OR OTHERS THEN
        RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = SQLERRM;
    END;
    RETURN array_to_json(found);
  END $$;

-- The trigger of shard_call: a row, which Citus sends to the machine of its account, is a call as of read_prepared or, if `arguments` is null, of read_shards, with
-- statements that write. Each shard's statement must return at least `mustReturn` rows; null: any number.
DO $$ BEGIN
  ALTER TABLE shard_call ALTER COLUMN sqls DROP NOT NULL;
  ALTER TABLE shard_call DROP COLUMN bounds;
  ALTER TABLE shard_call ADD COLUMN keys text[];
  ALTER TABLE shard_call ADD COLUMN kinds integer[];
  ALTER TABLE shard_call ADD COLUMN prepared text;
  ALTER TABLE shard_call ADD COLUMN arguments text;
END $$;
-- enable_seqscan: a plan that is made while a shard has few accounts would read all of them, and is kept when there are more.
CREATE OR REPLACE FUNCTION carry_out_shard_call() RETURNS trigger LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
  DECLARE
    ours integer[] := NEW.ours;
    keys text[] := NEW.keys;
    kinds integer[] := NEW.kinds;
    own text[] := string_to_array(NEW.arguments, chr(31));
    counts integer[] := NEW."mustReturn";
    name text;
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
      FOR nth IN 1 .. cardinality(ours) LOOP
        IF own IS NULL THEN
          EXECUTE with_shards(ours[nth], NEW.sqls[nth], NEW.tables)
            USING NEW.integers, NEW.bigints, NEW.byteas, NEW.uuids, NEW.texts;
        ELSE
          name := 'shard_' || keys[kinds[nth]] || '_' || get_shard_id_for_distribution_column('account_position', ours[nth]);
          IF current_setting('firsthand.' || name, true) IS DISTINCT FROM 'yes' THEN
            PERFORM prepare_on_shard(name, ours[nth], split_part(NEW.prepared, chr(31), kinds[nth]), NEW.tables);
          END IF;
          EXECUTE 'EXECUTE ' || name || '(' || own[nth] || ')';
        END IF;
        GET DIAGNOSTICS returned = ROW_COUNT;
        IF returned < counts[nth] THEN
          NEW.ours := '{}';
          NEW.sqls := NULL;
          NEW.tables := '{}';
          NEW.keys := NULL;
          NEW.kinds := NULL;
          NEW.prepared := NULL;
          NEW.arguments := NULL;
          NEW.integers := NULL;
          NEW.bigints := NULL;
          NEW.byteas := NULL;
          NEW.uuids := NULL;
          NEW.texts := NULL;
          RETURN NEW;
        END IF;
      END LOOP;
    EXCEPTION
      -- As in read_shards.
      WHEN query_canceled OR OTHERS THEN
        RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = SQLERRM;
    END;
    RETURN NULL;
  END $$;

-- New: only the 64 oldest of 256 statements are deallocated, not all. For the rest, see 0040-cheaper-commands.sql.
CREATE OR REPLACE FUNCTION read_together(ours integer, place oid, key text, sql text, tables text[], given text[], unwritten boolean) RETURNS json LANGUAGE plpgsql
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
          FOR earlier IN
            SELECT s.name FROM pg_prepared_statements AS s WHERE starts_with(s.name, 'read_') ORDER BY s.prepare_time LIMIT 64
          LOOP
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
      PERFORM create_distributed_function('prepare_on_shard(text, integer, text, text[])'),
        create_distributed_function('begin_on_shards(integer[], bigint[], integer[], boolean, bigint, text)'),
        create_distributed_function('read_shards(integer[], text[], text[], integer[], bigint[], bytea[], uuid[], text[])'),
        create_distributed_function('read_prepared(integer[], text[], text[], integer[], text, text)');
    END IF;
  END IF;
END $$;
