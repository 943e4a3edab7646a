-- On a cluster, statements about sent rows run as they are on the account's shards: Citus would plan each of them anew, every time, which takes
-- longer than they do (sent-rows.ts). On one PostgreSQL nothing of this is used.

-- Puts the names of an account's shards into SQL, for %1$s, %2$s, …
CREATE FUNCTION with_shards(ours integer, sql text, tables text[]) RETURNS text LANGUAGE plpgsql STABLE AS $$
  DECLARE
    one text;
    names text[] := '{}';
  BEGIN
    FOREACH one IN ARRAY tables LOOP
      names := names || shard_name(one::regclass, get_shard_id_for_distribution_column(one::regclass, ours));
    END LOOP;
    RETURN format(sql, VARIADIC names);
  END $$;

-- Runs a statement there, and returns its rows as a JSON array; null: none. $1 to $5 of the statement are the five arrays.
CREATE FUNCTION read_shards(ours integer, sql text, tables text[], integers integer[], bigints bigint[], byteas bytea[], uuids uuid[],
  texts text[]) RETURNS json LANGUAGE plpgsql AS $$
  DECLARE
    one record;
    found json[];
  BEGIN
    FOR one IN EXECUTE with_shards(ours, sql, tables) USING integers, bigints, byteas, uuids, texts LOOP
      found := found || row_to_json(one);
    END LOOP;
    RETURN array_to_json(found);
  END $$;

-- Inserting a row runs its statement; no row is stored. An INSERT is needed: when a commit fails on a worker, Citus reports an error only if the
-- transaction has sent INSERT, UPDATE or DELETE there.
CREATE TABLE shard_call (
  account integer NOT NULL,
  sql text NOT NULL,
  tables text[] NOT NULL,
  integers integer[],
  bigints bigint[],
  byteas bytea[],
  uuids uuid[],
  texts text[]
);
CREATE FUNCTION carry_out_shard_call() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    -- The coordinator has chosen the shard of this table; this machine chooses those of the others, by what it knows. When Citus has just divided the
    -- shard, it may not know that yet. 57P03: cannot connect now.
    IF to_regclass('pg_dist_partition') IS NOT NULL THEN
      IF to_regclass(shard_name('shard_call'::regclass, get_shard_id_for_distribution_column('shard_call'::regclass, NEW.account)))
        IS DISTINCT FROM TG_RELID
      THEN
        RAISE EXCEPTION 'this machine does not know the shards of account % yet', NEW.account USING ERRCODE = '57P03';
      END IF;
    END IF;
    EXECUTE with_shards(NEW.account, NEW.sql, NEW.tables)
      USING NEW.integers, NEW.bigints, NEW.byteas, NEW.uuids, NEW.texts;
    RETURN NULL;
  END $$;
CREATE TRIGGER shard_called BEFORE INSERT ON shard_call FOR EACH ROW EXECUTE FUNCTION carry_out_shard_call();

-- Begins a transaction of accounts that are in the same shards. The floor is read before the accounts' locks are taken, so that one command
-- takes both kinds. It may be lower than necessary then. That is safe: readers wait a little longer.
DROP FUNCTION begin_writing(integer, boolean);
CREATE FUNCTION begin_writing(ours integer[], alone boolean)
RETURNS TABLE (account integer, day integer, "clockDay" integer, version bigint, strict boolean, "browserCatalogue" boolean,
  "nextEventID" integer) LANGUAGE plpgsql AS $$
  #variable_conflict use_column
  DECLARE
    -- Citus plans a text with `account = first` once for a connection, but not one with `account = ours[1]`.
    first integer := ours[1];
    floor bigint;
    number bigint;
    shard bigint;
    states json;
  BEGIN
    PERFORM pg_advisory_xact_lock_shared(2305843009213693952);
    IF to_regclass('pg_dist_partition') IS NOT NULL THEN
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
    END IF;
    SELECT last_value INTO floor FROM event_order;
    -- The floor's lock comes last: whoever waits for an account's lock must not hold up readers of the other accounts. Also sets lock_timeout on the
    -- worker. The service (0) has no rows that are locked: when it writes those of another account, too, the commit stays one of one phase.
    IF first <> 0 THEN
      INSERT INTO shard_call (account, sql, tables, integers, bigints, texts) VALUES (first,
        'WITH locked AS MATERIALIZED (SELECT set_config(''lock_timeout'', $5[1], true), '
        || CASE WHEN alone THEN 'pg_advisory_xact_lock' ELSE 'pg_advisory_xact_lock_shared' END
        || '($2[2] + one) FROM unnest($1) AS one)
        SELECT pg_advisory_xact_lock_shared($2[1]) FROM (SELECT count(*) FROM locked) AS all_locked',
        '{}', ours, ARRAY[4611686018427387904 + floor, 3746994889972252672], ARRAY[current_setting('lock_timeout')]);
    END IF;
    PERFORM pg_advisory_xact_lock_shared(4611686018427387904 + floor);
    -- After the locks: a reader who sees a greater number of another transaction then sees this one's locks, or its rows (sequencer.ts).
    SELECT nextval('owner_change_number') INTO number;
    IF cardinality(ours) = 1 THEN
      RETURN QUERY SELECT p.account, p.day, p."clockDay", p.catalogues, p.strict, p."browserCatalogue", p."nextEventID"
        FROM account_position p
        WHERE p.account = first AND set_config('firsthand.change', number::text, true) IS NOT NULL;
      RETURN;
    END IF;
    SELECT read_shards(p.account, 'SELECT account, day, "clockDay", catalogues AS version, strict, "browserCatalogue", "nextEventID"
      FROM %1$s WHERE account = ANY ($1) AND set_config(''firsthand.change'', $2[1]::text, true) IS NOT NULL',
      '{account_position}', ours, ARRAY[number], NULL, NULL, NULL)
      INTO states FROM account_position p WHERE p.account = first;
    IF states IS NULL THEN
      RAISE EXCEPTION 'account % is gone', first;
    END IF;
    RETURN QUERY SELECT * FROM json_to_recordset(states) AS state (account integer, day integer, "clockDay" integer, version bigint,
      strict boolean, "browserCatalogue" boolean, "nextEventID" integer);
  END $$;
