-- `migrate --citus` deletes the rows of spread tables that Citus leaves on the coordinator, because no erasure finds them. The audit log allows it that.
CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'TRUNCATE' AND current_setting('firsthand.emptying', true) = 'on' THEN
      RETURN NULL;
    END IF;
    RAISE EXCEPTION 'the audit log is append-only';
  END $$;

-- New: a transaction ends after a minute without a statement. When the coordinator's machine or network is lost, the connection is not closed, and by
-- default TCP notices that after two hours; until then the transaction would hold its locks. A coordinator that runs leaves no such pause: it ends a
-- transaction whose server is silent for 10 seconds, and a statement that takes 30.
CREATE OR REPLACE FUNCTION be_durable() RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    IF current_setting('fsync') <> 'on' THEN
      RAISE EXCEPTION 'a machine that has shards runs with fsync = off: turn it on' USING ERRCODE = 'FH003';
    END IF;
    IF current_setting('synchronous_commit') = 'off' THEN
      PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    PERFORM set_config('idle_in_transaction_session_timeout', '60s', true);
  END $$;

-- Changes of owners that `firsthand copy` made on a cluster have numbers of the workers (from 2^48 on), and later changes have lower ones. Readers begin
-- again.
DO $$ BEGIN
  DELETE FROM owner_change WHERE change >= 281474976710656;
END $$;
