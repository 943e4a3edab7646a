-- Is it a session of the console? It works only while the token that signed in does.
ALTER TABLE token ADD COLUMN session boolean NOT NULL DEFAULT false;
