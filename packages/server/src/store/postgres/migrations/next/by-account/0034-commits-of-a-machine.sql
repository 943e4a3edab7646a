-- On a cluster, accounts of one machine share commits, whatever shards they are in; and a transaction begins with one command for that machine, or
-- with two when it may change owners.

-- Runs texts of SQL on shards, each on those of one of `ours`, and returns their rows as a JSON array; null: none. $1 to $5 of a text are the arrays.
DROP FUNCTION read_shards(integer, text, text[], integer[], bigint[], bytea[], uuid[], text[]);
CREATE FUNCTION read_shards(ours integer[], sqls text[], tables text[], integers integer[], bigints bigint[], byteas bytea[], uuids uuid[],
  texts text[]) RETURNS json LANGUAGE plpgsql AS $$
  DECLARE
    one record;
    found json[];
  BEGIN
    FOR nth IN 1 .. cardinality(ours) LOOP
      FOR one IN EXECUTE with_shards(ours[nth], sqls[nth], tables) USING integers, bigints, byteas, uuids, texts LOOP
        found := found || row_to_json(one);
      END LOOP;
    END LOOP;
    RETURN array_to_json(found);
  END $$;

-- The same for a row of shard_call, which Citus sends to the machine of its account: one of `ours`.
DO $$ BEGIN
  ALTER TABLE shard_call DROP COLUMN sql;
  ALTER TABLE shard_call ADD COLUMN ours integer[] NOT NULL;
  ALTER TABLE shard_call ADD COLUMN sqls text[] NOT NULL;
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
      EXECUTE with_shards(NEW.ours[nth], NEW.sqls[nth], NEW.tables)
        USING NEW.integers, NEW.bigints, NEW.byteas, NEW.uuids, NEW.texts;
    END LOOP;
    RETURN NULL;
  END $$;

-- The part of begin_writing that runs on the machine of its accounts. Sets settings, takes locks, and returns the states of those accounts that exist, as
-- JSON; null: none. `shards` are those of `ours`, as the coordinator knows them.
CREATE FUNCTION begin_on_shards(ours integer[], shards bigint[], alone boolean, floor bigint, patience text) RETURNS json LANGUAGE plpgsql AS $$
  DECLARE
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
      FOR state IN EXECUTE with_shards(part.first, 'SELECT account, day, "clockDay", catalogues AS version, strict, "browserCatalogue",
        "nextEventID" FROM %1$s WHERE account = ANY ($1)', '{account_position}') USING part.accounts LOOP
        states := states || row_to_json(state);
      END LOOP;
    END LOOP;
    RETURN array_to_json(states);
  END $$;

-- Begins a transaction of accounts that are on one machine, and returns their states and shards. `changing`: it may change owners. `patience`: how
-- long it waits for a lock, if not as long as is set. FH001: the accounts are on several machines.
-- The floor is read before the accounts' locks are taken, so that one command takes both kinds. It may be lower than necessary then. That is safe:
-- readers wait a little longer.
DROP FUNCTION begin_writing(integer[], boolean);
CREATE FUNCTION begin_writing(ours integer[], alone boolean, changing boolean, patience text)
RETURNS TABLE (account integer, day integer, "clockDay" integer, version bigint, strict boolean, "browserCatalogue" boolean,
  "nextEventID" integer, shard bigint) LANGUAGE plpgsql AS $$
  #variable_conflict use_column
  DECLARE
    -- Citus plans a text with `account = first` once for a connection, but not one with `account = ours[1]`.
    first integer := ours[1];
    last bigint;
    number bigint;
    shards bigint[];
    known bigint[];
    states json;
    present bigint;
  BEGIN
    -- Into a variable: in a SELECT that Citus sends to a machine, current_setting would be that of the machine.
    patience := coalesce(patience, current_setting('lock_timeout'));
    PERFORM set_config('lock_timeout', patience, true);
    PERFORM pg_advisory_xact_lock_shared(2305843009213693952);
    -- Until they are the same after the lock is taken: a shard that was divided meanwhile has become two others. 5: ShareLock, as of a write.
    LOOP
      SELECT array_agg(get_shard_id_for_distribution_column('account_position', one) ORDER BY nth) INTO shards
        FROM unnest(ours) WITH ORDINALITY AS given (one, nth);
      EXIT WHEN shards = known;
      PERFORM lock_shard_metadata(5, ARRAY(SELECT DISTINCT one FROM unnest(shards) AS one ORDER BY one));
      known := shards;
    END LOOP;
    IF cardinality(ours) > 1 AND (SELECT count(DISTINCT groupid) FROM pg_dist_placement WHERE shardid = ANY (shards)) > 1 THEN
      RAISE EXCEPTION 'accounts of several machines' USING ERRCODE = 'FH001';
    END IF;
    SELECT last_value INTO last FROM event_order;
    -- The service (0) has no rows that are locked: when it writes those of another account, too, the commit stays one of one phase.
    IF first <> 0 THEN
      -- With count(*) there is a row, so that locks are taken, also when the account is gone.
      SELECT begin_on_shards(ours, shards, alone, last, patience), count(*)
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
    RETURN QUERY SELECT state.*, shards[array_position(ours, state.account)]
      FROM json_to_recordset(states) AS state (account integer, day integer, "clockDay" integer, version bigint, strict boolean,
        "browserCatalogue" boolean, "nextEventID" integer);
  END $$;

-- Where the tables are spread already, migrating does not spread anything.
DO $$ BEGIN
  IF to_regclass('pg_dist_partition') IS NOT NULL THEN
    IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'account_position'::regclass) THEN
      PERFORM create_distributed_function('read_shards(integer[], text[], text[], integer[], bigint[], bytea[], uuid[], text[])');
      PERFORM create_distributed_function('begin_on_shards(integer[], bigint[], boolean, bigint, text)');
    END IF;
  END IF;
END $$;
