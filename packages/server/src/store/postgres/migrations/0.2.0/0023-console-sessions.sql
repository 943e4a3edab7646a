-- Is it a session of the console? It ends when the token that signed in is revoked.
ALTER TABLE token ADD COLUMN session boolean NOT NULL DEFAULT false;
