/** What each token may act for: held in memory, and read again as soon as anyone has changed it. */
import type { Access } from '../store.ts';
import type { Connection } from './connection.ts';

interface Known {
  readonly access: Access;
  readonly expiresTime: number | null;
}

interface Row extends Omit<Access, 'accountOrigin' | 'accountTimezone'> {
  readonly accountOrigin: string | null;
  readonly accountTimezone: string | null;
  readonly expiresTime: number | null;
}

/** Tokens that were asked for and exist; unknown ones are looked up again each time. */
const mostRemembered = 10_000;

/** Hashes of tokens that were made; of later ones it isn't known without asking. */
const mostMade = 100_000;

/**
 * `PRAGMA data_version` changes when another connection has committed anything, which costs a microsecond to ask; then
 * position.access, which triggers count up, says whether it was about tokens. So a token that is revoked, here or by the
 * `firsthand` command in another process, stops working at the next request.
 */
export const createAccess = (db: Connection) => {
  const dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck();
  const accessVersion = db.prepare<[], number>('SELECT access FROM position').pluck();
  const select = db.prepare<[string], Row>(`
    SELECT t.token, t.tokenID, t.kind, t.account, t.expiresTime, a.accountOrigin, a.accountTimezone
    FROM token t LEFT JOIN account a ON a.account = t.account WHERE t.hash = ? AND t.revokedTime IS NULL`);
  const selectMade = db.prepare<[number, number], { token: number; hash: string }>(
    'SELECT token, hash FROM token WHERE token > ? ORDER BY token LIMIT ?',
  );
  const known = new Map<string, Known>();
  const made = new Set<string>();
  let lastMade = 0;
  let seenData = dataVersion.get();
  let seenAccess = accessVersion.get();

  /** Tokens are never deleted: only what is new is read. */
  const readMade = () => {
    for (const { token, hash } of selectMade.all(lastMade, mostMade - made.size)) {
      made.add(hash);
      lastMade = token;
    }
  };
  readMade();

  const notice = () => {
    const data = dataVersion.get();
    // A connection that writes itself is not told of its own commits.
    if (data === seenData && db.readonly) return;
    const access = accessVersion.get();
    if (access !== seenAccess) {
      readMade();
      known.clear();
      seenAccess = access;
    }
    // Only now: when it could not be read, the next request must ask again.
    seenData = data;
  };

  const read = (tokenHash: string): Known | undefined => {
    const row = select.get(tokenHash);
    if (!row) return undefined;
    const { expiresTime, ...rest } = row;
    const access: Access = {
      ...rest,
      accountOrigin: JSON.parse(row.accountOrigin ?? '[]'),
      accountTimezone: row.accountTimezone ?? 'UTC',
    };
    const found = { access, expiresTime };
    if (known.size >= mostRemembered) known.clear();
    known.set(tokenHash, found);
    return found;
  };

  return {
    /** Whether there ever was such a token, as far as that is remembered. */
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
