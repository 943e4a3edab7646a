-- The requests that created a contact: they are erased with it, also those of users who are no longer linked to it.
CREATE INDEX request_repeat_by_contact ON request_repeat (contact);
