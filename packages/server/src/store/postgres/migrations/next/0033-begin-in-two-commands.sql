-- On a cluster, a transaction that begins sends two commands to the machine of the account's rows, no longer three. The floor may be read
-- before the account's lock is waited for: all sequences that the transaction draws are greater still (sequencer.ts).
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
    SELECT last_value INTO floor FROM event_order;
    IF alone THEN
      PERFORM pg_advisory_xact_lock(3746994889972252672 + p.account), pg_advisory_xact_lock_shared(4611686018427387904 + floor)
      FROM account_position p WHERE p.account = ours;
    ELSE
      PERFORM pg_advisory_xact_lock_shared(3746994889972252672 + p.account), pg_advisory_xact_lock_shared(4611686018427387904 + floor)
      FROM account_position p WHERE p.account = ours;
    END IF;
    PERFORM pg_advisory_xact_lock_shared(4611686018427387904 + floor);
    -- After the locks: a reader who sees a greater number of another transaction then sees this one's locks, or its rows (sequencer.ts).
    SELECT nextval('owner_change_number') INTO number;
    RETURN QUERY SELECT p.account, p.day, p."clockDay", p.catalogues, p.strict, p."browserCatalogue", p."nextEventID"
      FROM account_position p
      WHERE p.account = ours AND set_config('firsthand.change', number::text, true) IS NOT NULL;
  END $$;
