-- A page must not shadow a server's event: the kind of token is part of an event's key (sent-keys.ts). Keys of events that were
-- kept before have no kind and are repeats for both. They are looked for as long as one of the days may have some.
ALTER TABLE kept_day ADD COLUMN "ofEither" boolean NOT NULL DEFAULT true;
