-- How many claims by one key of a contact nobody has accepted, and which are the oldest: beyond a limit those give way.
CREATE INDEX claim_of_key ON claim (contact, coalesce(
  'contactEmailaddress ' || (said -> 'fields' ->> 'contactEmailaddress'),
  'contactExternalID ' || (said -> 'fields' ->> 'contactExternalID')), claim) WHERE NOT accepted;
DROP INDEX claim_unaccepted;
