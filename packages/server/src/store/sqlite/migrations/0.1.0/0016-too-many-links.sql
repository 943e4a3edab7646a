-- Links that only claims made: of each user the newest 100 stay (limits.claimedLinksPerUser). The older ones are deleted at once,
-- as they would be by a new one; and where none is left to a contact, the user's claims for it that nobody has accepted.
CREATE TEMP TABLE link_too_many AS
SELECT sequence, user, contact FROM (
  SELECT s.sequence, s.user, s.contact, row_number() OVER (PARTITION BY s.user ORDER BY s.sequence DESC) AS nth
  FROM statement s JOIN claim c ON c.claim = s.claim
  WHERE NOT s.verified AND NOT c.accepted
    AND s.user IN (SELECT user FROM statement WHERE claim IS NOT NULL GROUP BY user HAVING count(*) > 100)
)
WHERE nth > 100;
DELETE FROM statement WHERE sequence IN (SELECT sequence FROM link_too_many);
DELETE FROM claim
WHERE NOT accepted AND (user, contact) IN (SELECT user, contact FROM link_too_many)
  AND NOT EXISTS (SELECT 1 FROM statement s WHERE s.user = claim.user AND s.contact = claim.contact);
DROP TABLE link_too_many;
