/** Caches what each token may access, and reads it again as soon as a token or an account has changed. */
import { BoundedMap } from '../../../shared/bounded-map.ts';
import type { Access } from '../../store.ts';
import type { Connection } from '../database/connection.ts';

interface Known {
  readonly access: Access;
  readonly expiresTime: number | null;
}

interface Row extends Omit<Access, 'accountOrigin' | 'enrich'> {
  readonly accountOrigin: string;
  readonly enrich: number;
  readonly expiresTime: number | null;
}

/** The most tokens in the cache; unknown tokens are looked up each time. */
const maxCached = 10_000;

/** The most hashes of issued tokens in memory; `wasMade` returns false for later ones. */
const maxCreated = 100_000;

/**
 * `PRAGMA data_version` changes when another connection commits anything; reading it takes a microsecond. Only then position.access
 * is read, which triggers increment when a token or an account changes. So a token that is revoked, by this process or by the
 * `firsthand` command in another one, stops working at the next request.
 */
export const createAccess = (db: Connection) => {
  const dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck();
  const accessVersion = db.prepare<[], number>('SELECT access FROM position').pluck();
  const select = db.prepare<[string], Row>(`
    SELECT t.token, t.tokenID, coalesce(m.kind, t.kind) AS kind, t.account, t.expiresTime,
      coalesce(a.accountOrigin, '[]') AS accountOrigin, coalesce(a.accountTimezone, 'UTC') AS accountTimezone,
      coalesce(a.enrich, 0) AS enrich
    FROM token t LEFT JOIN account a ON a.account = t.account LEFT JOIN token m ON t.session AND m.token = t.createdBy
    WHERE t.hash = ? AND t.revokedTime IS NULL AND m.revokedTime IS NULL`);
  const selectMade = db.prepare<[number, number], { token: number; hash: string }>(
    'SELECT token, hash FROM token WHERE token > ? AND NOT session ORDER BY token LIMIT ?',
  );
  const known = new BoundedMap<string, Known>(maxCached);
  const made = new Set<string>();
  let lastMade = 0;
  let seenData = dataVersion.get();
  let seenAccess = accessVersion.get();

  /** Tokens are never deleted, so only the new ones are read. */
  const readMade = () => {
    for (const { token, hash } of selectMade.all(lastMade, maxCreated - made.size)) {
      made.add(hash);
      lastMade = token;
    }
  };
  readMade();

  const notice = () => {
    const data = dataVersion.get();
    // data_version doesn't change with the connection's own commits, so a connection that writes reads on.
    if (data === seenData && db.readonly) return;
    const access = accessVersion.get();
    if (access !== seenAccess) {
      readMade();
      known.clear();
      seenAccess = access;
    }
    // Set last: if reading fails, the next request reads again.
    seenData = data;
  };

  const read = (tokenHash: string): Known | undefined => {
    const row = select.get(tokenHash);
    if (!row) return undefined;
    const { expiresTime, ...rest } = row;
    const access = { ...rest, accountOrigin: JSON.parse(row.accountOrigin), enrich: row.enrich === 1 };
    const found = { access, expiresTime };
    known.set(tokenHash, found);
    return found;
  };

  return {
    /** Whether the token was ever issued, as far as that is held in memory. */
    wasMade(tokenHash: string): boolean {
      if (made.has(tokenHash)) return true;
      notice();
      return made.has(tokenHash);
    },

    findAccess(tokenHash: string, time: number): Access | undefined {
      notice();
      const found = known.get(tokenHash) ?? read(tokenHash);
      if (found === undefined || (found.expiresTime !== null && time >= found.expiresTime)) return undefined;
      return found.access;
    },
  };
};
