-- Texts at points in time, which the console marks on its plots.
CREATE TABLE note (
  account integer NOT NULL,
  "noteID" text COLLATE "C" NOT NULL,
  "noteText" text NOT NULL, -- at most 200 characters
  "noteTime" bigint NOT NULL,
  "createdTime" bigint NOT NULL,
  PRIMARY KEY (account, "noteID")
);
CREATE INDEX note_by_time ON note (account, "noteTime");
