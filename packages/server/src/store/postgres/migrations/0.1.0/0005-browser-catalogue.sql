-- Do browser tokens list the profiles, tags and attributes that they use? Entries that there are stay as they are.
ALTER TABLE account ADD COLUMN "browserCatalogue" boolean NOT NULL DEFAULT false;
