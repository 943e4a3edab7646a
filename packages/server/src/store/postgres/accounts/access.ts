/**
 * Caches what each token may act for, and drops the cache when any server changes a token.
 *
 * A change of tokens notifies all servers (NOTIFY, which PostgreSQL sends at the commit). A server without notifications cannot
 * know whether nothing changed or its connection is lost. So it sends a query on the same connection several times a second, and
 * uses the cache only for `maxSilentMilliseconds` after the last response. A revoked token stops working on every server within
 * a second; a server without the database accepts no token.
 */
import { BoundedMap } from '../../../shared/bounded-map.ts';
import type { Access } from '../../store.ts';
import type { Connection } from '../database/connection.ts';

/** The size of the cache. Unknown tokens are not cached. */
const maxCached = 10_000;

/** The number of token hashes held in memory; tokens that were created later are not among them. */
const maxCreated = 100_000;

/** The time after the listening connection's last response from which on the cache may be out of date. */
const maxSilentMilliseconds = 800;

interface Known {
  readonly access: Access;
  readonly expiresTime: number | null;
}

const select = `
  SELECT t.token, t."tokenID", coalesce(m.kind, t.kind) AS kind, t.account, t."expiresTime",
    coalesce(a."accountOrigin", '[]') AS "accountOrigin", coalesce(a."accountTimezone", 'UTC') AS "accountTimezone",
    coalesce(a.enrich, false) AS enrich
  FROM token t LEFT JOIN account a ON a.account = t.account LEFT JOIN token m ON t.session AND m.token = t."createdBy"
  WHERE t.hash = $1 AND t."revokedTime" IS NULL AND m."revokedTime" IS NULL`;

export const createAccess = (read: <Value>(work: (db: Connection) => Promise<Value>) => Promise<Value>) => {
  const known = new BoundedMap<string, Known>(maxCached);
  const made = new Set<string>();
  let lastMade = 0;
  let allMade = false;
  let version = 0;
  let silentSince = -Infinity;

  /** Reads the hashes of new tokens only, because the number of a deleted token is not used again. */
  const readMade = async (db: Connection) => {
    const asked = version;
    const rows = await db.all<{ token: number; hash: string }>(
      'SELECT token, hash FROM token WHERE token > $1 AND NOT session ORDER BY token LIMIT $2',
      [lastMade, maxCreated - made.size],
    );
    for (const { token, hash } of rows) {
      made.add(hash);
      lastMade = Math.max(lastMade, token);
    }
    allMade = asked === version;
  };
  const look = async (tokenHash: string): Promise<Known | undefined> => {
    const asked = version;
    const row = await read((db) => db.get<Access & Pick<Known, 'expiresTime'>>(select, [tokenHash]));
    if (!row) return undefined;
    const { expiresTime, ...access } = row;
    const found = { access, expiresTime };
    // A token that may have changed during the read is not cached.
    if (asked === version) known.set(tokenHash, found);
    return found;
  };
  const isSilent = () => performance.now() - silentSince > maxSilentMilliseconds;

  return {
    async findAccess(tokenHash: string, time: number): Promise<Access | undefined> {
      const found = (isSilent() ? undefined : known.get(tokenHash)) ?? (await look(tokenHash));
      if (found === undefined || (found.expiresTime !== null && time >= found.expiresTime)) return undefined;
      return found.access;
    },

    async wasMade(tokenHash: string): Promise<boolean> {
      if (made.has(tokenHash)) return true;
      if (!allMade || isSilent()) await read(readMade);
      return made.has(tokenHash);
    },

    /** Drops the cache, because a token has changed. */
    forget(): void {
      version += 1;
      allMade = false;
      known.clear();
    },

    /** Reports a response on the listening connection to a query that was sent at `asked` (performance.now). */
    heardAt(asked: number): void {
      silentSince = asked;
    },
  };
};
