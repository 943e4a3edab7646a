-- Links to a contact that only claims made: the newest 1,000 stay (limits.claimedLinksPerContact). The older ones are deleted at
-- once, as they would be by a new one; and where a user has none left to the contact, that user's claims for it that nobody has
-- accepted. Users of a contact that is being erased are left alone: what that erasure takes depends on all of their links.
CREATE TEMP TABLE link_too_many AS
SELECT sequence, user, contact FROM (
  SELECT s.sequence, s.user, s.contact, row_number() OVER (PARTITION BY s.contact ORDER BY s.sequence DESC) AS nth
  FROM statement s JOIN claim c ON c.claim = s.claim
  WHERE NOT s.verified AND NOT c.accepted
    AND s.contact IN (
      SELECT contact FROM statement WHERE claim IS NOT NULL AND NOT verified GROUP BY contact HAVING count(*) > 1000
    )
)
WHERE nth > 1000
  AND user NOT IN (SELECT user FROM statement WHERE contact IN (SELECT contact FROM erasing_contact));
DELETE FROM statement WHERE sequence IN (SELECT sequence FROM link_too_many);
DELETE FROM claim
WHERE NOT accepted AND (user, contact) IN (SELECT user, contact FROM link_too_many)
  AND NOT EXISTS (SELECT 1 FROM statement s WHERE s.user = claim.user AND s.contact = claim.contact);
DROP TABLE link_too_many;
