/** Caches what each token may access, and clears the cache as soon as a token or an account changes. */
import { BoundedMap } from '../../../shared/bounded-map.ts';
import type { Access } from '../../store.ts';
import type { Connection } from '../database/connection.ts';

interface CachedAccess {
  readonly access: Access;
  readonly expiresTime: number | null;
}

interface Row extends Omit<Access, 'accountOrigin' | 'enrich' | 'userIDIsEmailaddress'> {
  readonly accountOrigin: string;
  readonly enrich: number;
  readonly userIDIsEmailaddress: number;
  readonly expiresTime: number | null;
}

/** The cache size. Unknown tokens are not cached. */
const maxCached = 10_000;

/** The maximum number of issued token hashes in memory. For tokens beyond it, `wasTokenCreated` returns false. */
const maxCreated = 100_000;

/**
 * `PRAGMA data_version`, which takes 1 µs to read, changes when another connection commits. Only then is
 * position.access read, which triggers increment when a token or an account changes. So a revoked token stops working
 * at the next request.
 */
export const createAccess = (db: Connection) => {
  const dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck();
  const accessVersion = db.prepare<[], number>('SELECT access FROM position').pluck();
  const select = db.prepare<[string], Row>(`
    SELECT t.token, t.tokenID, coalesce(m.kind, t.kind) AS kind, t.account, t.expiresTime,
      coalesce(a.accountOrigin, '[]') AS accountOrigin, coalesce(a.accountTimezone, 'UTC') AS accountTimezone,
      coalesce(a.enrich, 0) AS enrich, coalesce(a.defaultProfileID, '') AS defaultProfileID,
      coalesce(a.userIDIsEmailaddress, 0) AS userIDIsEmailaddress
    FROM token t LEFT JOIN account a ON a.account = t.account LEFT JOIN token m ON t.session AND m.token = t.createdBy
    WHERE t.hash = ? AND t.revokedTime IS NULL AND m.revokedTime IS NULL`);
  const selectCreated = db.prepare<[number, number], { token: number; hash: string }>(
    'SELECT token, hash FROM token WHERE token > ? AND NOT session ORDER BY token LIMIT ?',
  );
  const cache = new BoundedMap<string, CachedAccess>(maxCached);
  const createdHashes = new Set<string>();
  let lastCreated = 0;
  let seenData = dataVersion.get();
  let seenAccess = accessVersion.get();

  /** Reads only new tokens, because existing tokens are deleted only with their account or as expired sessions. */
  const readCreated = () => {
    for (const { token, hash } of selectCreated.all(lastCreated, maxCreated - createdHashes.size)) {
      createdHashes.add(hash);
      lastCreated = token;
    }
  };
  readCreated();

  const refresh = () => {
    const data = dataVersion.get();
    // A writing connection always continues, because data_version doesn't change with the connection's own commits.
    if (data === seenData && db.readonly) return;
    const access = accessVersion.get();
    if (access !== seenAccess) {
      readCreated();
      cache.clear();
      seenAccess = access;
    }
    // Assigned last: if reading fails, the next request retries.
    seenData = data;
  };

  const read = (tokenHash: string): CachedAccess | undefined => {
    const row = select.get(tokenHash);
    if (!row) return undefined;
    const { expiresTime, ...rest } = row;
    const access = {
      ...rest,
      accountOrigin: JSON.parse(row.accountOrigin),
      enrich: row.enrich === 1,
      userIDIsEmailaddress: row.userIDIsEmailaddress === 1,
    };
    const cached = { access, expiresTime };
    cache.set(tokenHash, cached);
    return cached;
  };

  return {
    /** Whether the token was ever issued, according to the hashes in memory. */
    wasTokenCreated(tokenHash: string): boolean {
      if (createdHashes.has(tokenHash)) return true;
      refresh();
      return createdHashes.has(tokenHash);
    },

    findAccess(tokenHash: string, time: number): Access | undefined {
      refresh();
      const cached = cache.get(tokenHash) ?? read(tokenHash);
      if (cached === undefined || (cached.expiresTime !== null && time >= cached.expiresTime)) return undefined;
      return cached.access;
    },
  };
};
