-- Do events of browser tokens get labels: browser, operating system, kind of device, country?
ALTER TABLE account ADD COLUMN enrich boolean NOT NULL DEFAULT true;
