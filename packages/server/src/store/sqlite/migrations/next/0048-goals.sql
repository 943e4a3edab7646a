-- What an account wants people to do: an event of a kind, or on a page.
CREATE TABLE goal (
  account INTEGER NOT NULL REFERENCES account,
  goalID TEXT NOT NULL,
  goalName TEXT NOT NULL, -- unique in the account
  eventID INTEGER,        -- two of eventID, eventName and path are NULL
  eventName TEXT,
  path TEXT,              -- a pattern, in which * stands for any text
  attrID TEXT NOT NULL,   -- the attribute with the value; '': none
  createdTime INTEGER NOT NULL,
  updatedTime INTEGER NOT NULL,
  PRIMARY KEY (account, goalID)
) STRICT, WITHOUT ROWID;
