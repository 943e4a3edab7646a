-- A token may be an editor's: it changes contacts, catalogues and segments.
ALTER TABLE token
  DROP CONSTRAINT token_kind_check,
  ADD CONSTRAINT token_kind_check CHECK (kind IN ('browser', 'viewer', 'editor', 'server', 'operator')),
  ADD "memberID" text; -- of a member's access, and of the sessions that it made

-- The people who may sign in to the console of an account.
CREATE TABLE member (
  "memberID" text PRIMARY KEY,
  account integer NOT NULL REFERENCES account,
  kind text NOT NULL CHECK (kind IN ('viewer', 'editor', 'server')), -- what the member may do
  token integer UNIQUE REFERENCES token, -- the access, of the same kind, which makes the sessions; NULL: nobody has joined yet
  emailaddress text NOT NULL, -- canonical
  "memberName" text NOT NULL,
  password text, -- its hash; NULL: none was chosen yet
  "joinedTime" bigint, -- when it was chosen
  invitation text UNIQUE, -- SHA-256 of the code of the open invitation, hex
  "invitationExpiresTime" bigint,
  "invitedBy" integer REFERENCES token, -- who made the invitation; NULL: the command line
  "createdTime" bigint NOT NULL,
  UNIQUE (account, emailaddress)
);
CREATE INDEX member_by_emailaddress ON member (emailaddress);
