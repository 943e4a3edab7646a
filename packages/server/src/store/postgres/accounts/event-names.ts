/** Caches what pages of events need of catalogues: the merges of entries, and the names of events. */
import { BoundedMap } from '../../../bounded-map.ts';
import type { CatalogueMerges } from '../../rules/accounts/entry-merges.ts';
import type { AccountConnection } from '../database/connection.ts';
import { createCatalogueCache, readMerges } from './catalogues.ts';

/** The size of the cache of names, each up to a kilobyte. */
const mostNames = 20_000;

/** The entries of an account, as a snapshot has them. */
export interface Entries {
  readonly merges: CatalogueMerges;
  /** Returns the names of the events that are listed. */
  namesOf(eventIDs: readonly number[]): Promise<ReadonlyMap<number, string>>;
}

interface Merged {
  readonly version: number;
  readonly merges: CatalogueMerges;
}

const countMerged = ({ merges }: Merged): number =>
  Object.values(merges).reduce((sum, { groups }) => sum + groups.flat().length, 0);

const readNames = async (db: AccountConnection, eventIDs: readonly number[]): Promise<Map<number, string>> => {
  const rows = await db.all<{ id: string; name: string }>(
    "SELECT id, name FROM catalogue WHERE account = $1 AND kind = 'event' AND id = ANY ($2::text[])",
    [db.account, eventIDs.map(String)],
  );
  return new Map(rows.map(({ id, name }) => [Number(id), name]));
};

/** Returns a function that reads the entries of a snapshot's account. What was read is valid as long as the version of its catalogues is the same. */
export const createEntryReader = () => {
  const remembered = createCatalogueCache(countMerged);
  const names = new BoundedMap<string, string>(mostNames);

  return async (db: AccountConnection): Promise<Entries> => {
    const { account } = db;
    const state = await db.get<{ version: number }>(
      'SELECT catalogues AS version FROM account_position WHERE account = $1',
      [account],
    );
    // An account that is gone has no entries.
    const version = state?.version ?? -1;
    const known = remembered.get(account);
    const isValid = known?.version === version;
    const merges = isValid ? known.merges : await readMerges(db, account);
    if (!isValid) remembered.set(account, { version, merges });
    return {
      merges,
      async namesOf(eventIDs) {
        const keyOf = (eventID: number) => `${account} ${version} ${eventID}`;
        const found = new Map(
          eventIDs.flatMap((eventID) => {
            const name = names.get(keyOf(eventID));
            return name === undefined ? [] : [[eventID, name]];
          }),
        );
        const others = eventIDs.filter((eventID) => !found.has(eventID));
        if (others.length === 0) return found;
        for (const [eventID, name] of await readNames(db, others)) {
          names.set(keyOf(eventID), name);
          found.set(eventID, name);
        }
        return found;
      },
    };
  };
};
