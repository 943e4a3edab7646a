-- Ended sessions and share links are deleted. What names a token is found by an index.
CREATE INDEX audit_by_token ON audit (token) WHERE token IS NOT NULL;
CREATE INDEX member_by_inviter ON member ("invitedBy") WHERE "invitedBy" IS NOT NULL;
CREATE INDEX share_link_by_maker ON share_link ("createdBy") WHERE "createdBy" IS NOT NULL;
CREATE INDEX share_link_by_end ON share_link ("expiresTime");

-- The page has a column of its own: a list does not read the views, which are long.
ALTER TABLE share_link ADD COLUMN page text; -- 'overview' or 'events'
UPDATE share_link SET page = view::json ->> 'page';
ALTER TABLE share_link ALTER COLUMN page SET NOT NULL;
