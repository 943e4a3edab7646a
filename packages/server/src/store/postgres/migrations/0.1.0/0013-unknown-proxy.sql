-- When a proxy on a private address last forwarded requests while TRUST_PROXY was not set: firsthand doctor reports it.
CREATE TABLE unknown_proxy (
  id integer PRIMARY KEY CHECK (id = 1),
  "seenTime" bigint NOT NULL
);
