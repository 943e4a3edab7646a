/** Computes which parts of a user's history are erased while the user is not detached yet. */
import { stretchesOf } from '../../../identity/ownership.ts';
import { createStatementReader, type StatementRow } from '../contacts/statements.ts';
import type { Connection } from '../database/connection.ts';

interface ErasedStretch {
  readonly erasure: number;
  readonly after: number;
  readonly through: number;
}

interface ErasingContact {
  readonly contact: number;
  readonly erasure: number;
  readonly through: number;
  readonly verifiedOnly: 0 | 1;
}

export const createErasingReader = (db: Connection) => {
  const statements = createStatementReader(db);
  const any = db.prepare<[], number>('SELECT 1 FROM erasing_contact LIMIT 1').pluck();
  const ofUser = db.prepare<[number], ErasingContact>(`
    SELECT e.contact, e.erasure, e.through, x.verifiedOnly FROM erasing_contact e JOIN erasure x ON x.erasure = e.erasure
    WHERE e.contact IN (SELECT contact FROM statement WHERE user = ?) ORDER BY e.erasure`);

  const takenBy = (list: readonly StatementRow[], erasing: readonly ErasingContact[]): ErasedStretch[] => {
    const { erasure, through: last, verifiedOnly } = erasing[0] as ErasingContact;
    const taken: ErasedStretch[] = [];
    for (const { contact, statement, after, through } of stretchesOf(list)) {
      if (!erasing.some((each) => each.contact === contact) || after >= last) continue;
      if (verifiedOnly && !statement?.verified) continue;
      const before = taken.at(-1);
      const isNext = before?.through === after;
      if (isNext) taken.pop();
      taken.push({ erasure, after: isNext ? before.after : after, through: Math.min(through, last) });
    }
    return taken;
  };

  return {
    isUnderWay: (): boolean => any.get() !== undefined,

    /** The stretches of a user's history that are erased but not listed in `erased_stretch` yet. */
    stretchesOf(user: number): ErasedStretch[] {
      if (any.get() === undefined) return [];
      const erasing = ofUser.all(user);
      if (erasing.length === 0) return [];
      const taken: ErasedStretch[] = [];
      let list = statements.ofUserAsMade(user);
      // One erasure after the other: for a later one, the links of an earlier one count as unlinks.
      for (const erasure of new Set(erasing.map((each) => each.erasure))) {
        const contacts = erasing.filter((each) => each.erasure === erasure);
        taken.push(...takenBy(list, contacts));
        list = list.map((each) =>
          contacts.some(({ contact }) => contact === each.contact) ? { ...each, contact: null } : each,
        );
      }
      return taken;
    },
  };
};
