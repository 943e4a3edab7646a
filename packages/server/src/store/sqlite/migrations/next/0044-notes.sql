-- Texts at points in time, which the console marks on its plots.
CREATE TABLE note (
  account INTEGER NOT NULL REFERENCES account,
  noteID TEXT NOT NULL,
  noteText TEXT NOT NULL, -- at most 200 characters
  noteTime INTEGER NOT NULL,
  createdTime INTEGER NOT NULL,
  PRIMARY KEY (account, noteID)
) STRICT, WITHOUT ROWID;
CREATE INDEX note_by_time ON note (account, noteTime);
