/**
 * Caches what each token may access, and clears the cache when any server changes a token.
 *
 * Servers announce token changes with NOTIFY. Because silence can mean a lost connection, a server queries the same
 * connection several times a second, and uses the cache only for `maxSilentMilliseconds` after the last response. So a
 * revoked token stops working on every server within a second, and a server without a database connection accepts no
 * token.
 */
import { BoundedMap } from '../../../shared/bounded-map.ts';
import type { Access } from '../../store.ts';
import type { Connection } from '../database/connection.ts';

/** The cache size. The cache never contains unknown tokens. */
const maxCached = 10_000;

/** The maximum number of token hashes in memory. For tokens beyond it, `wasTokenCreated` returns false. */
const maxCreated = 100_000;

/** How long after the listening connection's last response the cache may be used. */
const maxSilentMilliseconds = 800;

interface CachedToken {
  readonly access: Access;
  readonly expiresTime: number | null;
}

const select = `
  SELECT t.token, t."tokenID", coalesce(m.kind, t.kind) AS kind, t.account, t."expiresTime",
    coalesce(a."accountOrigin", '[]') AS "accountOrigin", coalesce(a."accountTimezone", 'UTC') AS "accountTimezone",
    coalesce(a.enrich, false) AS enrich, coalesce(a."defaultProfileID", '') AS "defaultProfileID",
    coalesce(a."userIDIsEmailaddress", false) AS "userIDIsEmailaddress"
  FROM token t LEFT JOIN account a ON a.account = t.account LEFT JOIN token m ON t.session AND m.token = t."createdBy"
  WHERE t.hash = $1 AND t."revokedTime" IS NULL AND m."revokedTime" IS NULL`;

export const createAccessCache = (read: <Value>(work: (db: Connection) => Promise<Value>) => Promise<Value>) => {
  const cache = new BoundedMap<string, CachedToken>(maxCached);
  const createdHashes = new Set<string>();
  let lastToken = 0;
  let hasAllHashes = false;
  let version = 0;
  let silentSince = -Infinity;

  /** Reads only the hashes of new tokens, which is safe because deleted tokens' numbers are not reused. */
  const readNewHashes = async (db: Connection) => {
    const versionBefore = version;
    const rows = await db.all<{ token: number; hash: string }>(
      'SELECT token, hash FROM token WHERE token > $1 AND NOT session ORDER BY token LIMIT $2',
      [lastToken, maxCreated - createdHashes.size],
    );
    for (const { token, hash } of rows) {
      createdHashes.add(hash);
      lastToken = Math.max(lastToken, token);
    }
    hasAllHashes = versionBefore === version;
  };
  const readToken = async (tokenHash: string): Promise<CachedToken | undefined> => {
    const versionBefore = version;
    const row = await read((db) => db.get<Access & Pick<CachedToken, 'expiresTime'>>(select, [tokenHash]));
    if (!row) return undefined;
    const { expiresTime, ...access } = row;
    const token = { access, expiresTime };
    // Does not cache a token that may have changed during the read.
    if (versionBefore === version) cache.set(tokenHash, token);
    return token;
  };
  const isSilent = () => performance.now() - silentSince > maxSilentMilliseconds;

  return {
    async findAccess(tokenHash: string, time: number): Promise<Access | undefined> {
      const token = (isSilent() ? undefined : cache.get(tokenHash)) ?? (await readToken(tokenHash));
      if (token === undefined || (token.expiresTime !== null && time >= token.expiresTime)) return undefined;
      return token.access;
    },

    async wasTokenCreated(tokenHash: string): Promise<boolean> {
      if (createdHashes.has(tokenHash)) return true;
      if (!hasAllHashes || isSilent()) await read(readNewHashes);
      return createdHashes.has(tokenHash);
    },

    /** Clears the cache, because a token has changed. */
    forget(): void {
      version += 1;
      hasAllHashes = false;
      cache.clear();
    },

    /** Reports a response on the listening connection to a query sent at this time (performance.now). */
    noteResponse(queryTime: number): void {
      silentSince = queryTime;
    },
  };
};
