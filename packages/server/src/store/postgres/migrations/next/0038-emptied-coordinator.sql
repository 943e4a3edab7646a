-- When the tables are spread, what they held on the coordinator is deleted there (`migrate --citus`): no erasure would find it. The audit log allows that.
CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'TRUNCATE' AND current_setting('firsthand.emptying', true) = 'on' THEN
      RETURN NULL;
    END IF;
    RAISE EXCEPTION 'the audit log is append-only';
  END $$;

-- New: a transaction whose coordinator is lost without a word, with its machine or its network, holds its locks for a minute. By default TCP would notice
-- it after two hours. Within a minute the coordinator itself ends what waits for its server, or for a statement.
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

-- What firsthand copy numbered on the machines of a cluster (from 2^48 on): later changes have lower numbers, and nobody who has read these would read
-- them. Readers begin again.
DO $$ BEGIN
  DELETE FROM owner_change WHERE change >= 281474976710656;
END $$;
