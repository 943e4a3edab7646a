-- How many claims for a contact nobody has accepted, and which are the oldest: beyond a limit those give way.
CREATE INDEX claim_unaccepted ON claim (contact, claim) WHERE NOT accepted;
