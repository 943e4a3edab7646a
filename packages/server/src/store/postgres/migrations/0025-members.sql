-- A token may be an editor's: it changes contacts, catalogues and segments.
ALTER TABLE token
  DROP CONSTRAINT token_kind_check,
  ADD CONSTRAINT token_kind_check CHECK (kind IN ('browser', 'viewer', 'editor', 'server', 'operator'));

-- The people who may sign in to the console of an account.
CREATE TABLE member (
  "memberID" text PRIMARY KEY,
  account integer NOT NULL REFERENCES account,
  token integer NOT NULL UNIQUE REFERENCES token, -- its kind is what the member may do; it makes the sessions
  emailaddress text NOT NULL, -- canonical
  "memberName" text NOT NULL,
  password text, -- its hash; NULL: none was chosen yet
  "joinedTime" bigint, -- when it was chosen
  invitation text UNIQUE, -- SHA-256 of the code of the open invitation, hex
  "invitationExpiresTime" bigint,
  "createdTime" bigint NOT NULL,
  UNIQUE (account, emailaddress)
);
CREATE INDEX member_by_emailaddress ON member (emailaddress);
