-- The eventID that the next new event name of an account gets, unless it is listed. It only grows, so that no two names share an ID.
ALTER TABLE account ADD COLUMN "nextEventID" integer NOT NULL DEFAULT 1000000;
