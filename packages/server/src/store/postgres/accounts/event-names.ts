/** Caches event names by the version of the account's catalogues. */
import { BoundedMap } from '../../../shared/bounded-map.ts';
import type { AccountConnection } from '../database/connection.ts';

/** The cache size, up to about 20 MB. Names from earlier catalogue versions stay until newer names replace them. */
export const maxNames = 20_000;

interface NameRow {
  readonly id: string;
  readonly name: string;
}

/** Creates a cache of event names. */
export const createEventNames = () => {
  const names = new BoundedMap<string, string | null>(maxNames);

  return {
    /** Returns names by eventID; null for unlisted events. Caches them only if `version` is still current. */
    async read(
      db: AccountConnection,
      version: number,
      eventIDs: readonly number[],
    ): Promise<ReadonlyMap<number, string | null>> {
      const keyOf = (eventID: number) => `${db.account} ${version} ${eventID}`;
      const others = eventIDs.filter((eventID) => !names.has(keyOf(eventID)));
      if (others.length === 0)
        return new Map(eventIDs.map((eventID) => [eventID, names.get(keyOf(eventID)) as string | null]));
      const [rows, now] = await Promise.all([
        db.all<NameRow>(
          "SELECT id, name FROM catalogue WHERE account = $1 AND kind = 'event' AND id = ANY ($2::text[])",
          [db.account, eventIDs.map(String)],
        ),
        readVersion(db),
      ]);
      const listed = new Map(rows.map(({ id, name }) => [Number(id), name]));
      const all = new Map(eventIDs.map((eventID) => [eventID, listed.get(eventID) ?? null]));
      if (now === version) for (const [eventID, name] of all) names.set(keyOf(eventID), name);
      return all;
    },
    size: () => names.size,
  };
};

/** Returns the version of an account's catalogues; -1 for a deleted account. */
export const readVersion = async (db: AccountConnection): Promise<number> => {
  const sql = 'SELECT catalogues AS version FROM account_position WHERE account = $1';
  return (await db.get<{ version: number }>(sql, [db.account]))?.version ?? -1;
};
