/**
 * What each token may act for: held in memory, and read again as soon as anyone has changed it.
 *
 * Whoever changes tokens notifies all servers (NOTIFY, which goes out with the commit). A server that hears nothing can't
 * tell silence from a connection that is lost: so it asks on the same connection several times a second, and what is in
 * memory counts only for so long after the last answer. A token that is revoked stops working everywhere within a second,
 * or nothing does.
 */
import type { Access } from '../store.ts';
import type { Connection } from './connection.ts';

export const accessChannel = 'firsthand_access';

/** To be called with each change of what a token may act for; one that is new, nobody remembers as anything else. */
export const notifyAccess = (db: Connection) => db.run(`SELECT pg_notify('${accessChannel}', '')`);

/** Tokens that were asked for and exist; unknown ones are looked up again each time. */
const mostRemembered = 10_000;

/** Hashes of tokens that were made; of later ones it isn't known without asking. */
const mostMade = 100_000;

/** So long after the listening connection has answered, what is in memory may be out of date. */
const mostSilentMilliseconds = 800;

interface Known {
  readonly access: Access;
  readonly expiresTime: number | null;
}

export interface AccessMemory {
  findAccess(tokenHash: string, time: number): Promise<Access | undefined>;
  wasMade(tokenHash: string): Promise<boolean>;
  /** Something was changed, by anyone. */
  forget(): void;
  /** The listening connection has answered what was asked at a time (of performance.now). */
  heardAt(asked: number): void;
}

const select = `
  SELECT t.token, t."tokenID", t.kind, t.account, t."expiresTime",
    coalesce(a."accountOrigin", '[]') AS "accountOrigin", coalesce(a."accountTimezone", 'UTC') AS "accountTimezone"
  FROM token t LEFT JOIN account a ON a.account = t.account WHERE t.hash = $1 AND t."revokedTime" IS NULL`;

export const createAccess = (
  read: <Value>(work: (db: Connection) => Promise<Value>) => Promise<Value>,
): AccessMemory => {
  const known = new Map<string, Known>();
  const made = new Set<string>();
  let lastMade = 0;
  let allMade = false;
  let version = 0;
  let silentSince = -Infinity;

  /** Tokens are never deleted: only what is new is read. */
  const readMade = async (db: Connection) => {
    const asked = version;
    const rows = await db.all<{ token: number; hash: string }>(
      'SELECT token, hash FROM token WHERE token > $1 ORDER BY token LIMIT $2',
      [lastMade, mostMade - made.size],
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
    // What was changed while it was read must not be remembered as it was before.
    if (asked === version) {
      if (known.size >= mostRemembered) known.clear();
      known.set(tokenHash, found);
    }
    return found;
  };
  const isSilent = () => performance.now() - silentSince > mostSilentMilliseconds;

  return {
    async findAccess(tokenHash, time) {
      const found = (isSilent() ? undefined : known.get(tokenHash)) ?? (await look(tokenHash));
      if (found === undefined || (found.expiresTime !== null && time >= found.expiresTime)) return undefined;
      return found.access;
    },

    async wasMade(tokenHash) {
      if (made.has(tokenHash)) return true;
      if (!allMade || isSilent()) await read(readMade);
      return made.has(tokenHash);
    },

    forget() {
      version += 1;
      allMade = false;
      known.clear();
    },

    heardAt(asked) {
      silentSince = asked;
    },
  };
};
