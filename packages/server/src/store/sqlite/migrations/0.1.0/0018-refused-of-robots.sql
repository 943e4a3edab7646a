-- Whether a robot sent a refused request, by its user agent: its events are marked when it is sent again.
ALTER TABLE refused_request ADD COLUMN robot INTEGER NOT NULL DEFAULT 0;
