-- What an account wants people to do: an event of a kind, or on a page.
CREATE TABLE goal (
  account integer NOT NULL,
  "goalID" text COLLATE "C" NOT NULL,
  "goalName" text COLLATE "C" NOT NULL, -- unique in the account
  "eventID" integer,                    -- two of eventID, eventName and path are NULL
  "eventName" text,
  path text,                            -- a pattern, in which * stands for any text
  "attrID" text NOT NULL,               -- the attribute with the value; '': none
  "createdTime" bigint NOT NULL,
  "updatedTime" bigint NOT NULL,
  PRIMARY KEY (account, "goalID")
);
