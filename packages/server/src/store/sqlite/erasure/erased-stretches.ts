/** Computes which parts of a user's history are erased, as long as the user is not detached (detaching.ts). */
import { stretchesOwnedBy } from '../../../identity/ownership.ts';
import { createStatementReader } from '../contacts/statements.ts';
import type { Connection } from '../database/connection.ts';

interface ErasedStretch {
  readonly erasure: number;
  readonly after: number;
  readonly through: number;
}

export const createErasingReader = (db: Connection) => {
  const statements = createStatementReader(db);
  const any = db.prepare<[], number>('SELECT 1 FROM erasing_contact LIMIT 1').pluck();
  const ofUser = db.prepare<[number], { erasure: number; last: number; verifiedOnly: 0 | 1; contacts: string }>(`
    SELECT e.erasure, e.through AS last, x.verifiedOnly, json_group_array(e.contact) AS contacts
    FROM erasing_contact e JOIN erasure x ON x.erasure = e.erasure
    WHERE e.contact IN (SELECT contact FROM statement WHERE user = ?) GROUP BY e.erasure ORDER BY e.erasure`);

  return {
    isUnderWay: (): boolean => any.get() !== undefined,

    /** Returns the erased stretches of a user's history that are not in `erased_stretch` yet. */
    stretchesOf(user: number): ErasedStretch[] {
      if (any.get() === undefined) return [];
      const erasing = ofUser.all(user);
      if (erasing.length === 0) return [];
      const erased: ErasedStretch[] = [];
      let list = statements.ofUserUnfiltered(user);
      // Processes erasures in order, because for a later erasure, the links of an earlier one count as unlinks.
      for (const { erasure, last, verifiedOnly, contacts } of erasing) {
        const group: number[] = JSON.parse(contacts);
        const stretches = stretchesOwnedBy(group, list, { verifiedOnly: verifiedOnly === 1, last });
        erased.push(...stretches.map((stretch) => ({ erasure, ...stretch })));
        list = list.map((each) => (group.includes(each.contact as number) ? { ...each, contact: null } : each));
      }
      return erased;
    },
  };
};
