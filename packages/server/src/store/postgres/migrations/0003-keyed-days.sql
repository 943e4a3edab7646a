-- A server of before 0002 that was left running would go on beginning days: without a key of their repeats, which it has from
-- event_repeat, and which that has no longer. All servers would keep on such a day whatever is sent, however often. What it
-- says of a day is not enough any more.
ALTER TABLE kept_day ADD COLUMN keyed boolean NOT NULL DEFAULT true CHECK (keyed); -- its repeats have a key of their own
ALTER TABLE kept_day ALTER COLUMN keyed DROP DEFAULT;
