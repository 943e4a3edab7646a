/** Decides which contact merges are refused. */
import { wouldCycle } from '../../identity/merges.ts';
import { Refusal } from '../../shared/refusal.ts';

interface Mergeable {
  readonly contact: number;
  readonly mergedInto: number | null;
}

const refused = (message: string) => new Refusal('merge_refused', { field: 'otherContactUUID', message });

/** Throws a Refusal if `other` can't be merged into `keep`. `mergedInto` has the chain of merges from `keep`. */
export const checkMerge = (mergedInto: ReadonlyMap<number, number>, keep: Mergeable, other: Mergeable): void => {
  if (other.mergedInto !== null) {
    throw refused('`otherContactUUID` is already merged into another contact: unmerge it first');
  }
  if (wouldCycle(mergedInto, keep.contact, other.contact)) {
    throw refused('the merge would create a cycle: `contactUUID` is `otherContactUUID` or is merged into it');
  }
};

/** Throws a Refusal if the contact isn't merged. */
export const checkUnmerge = (other: Mergeable): void => {
  if (other.mergedInto === null) throw refused('`otherContactUUID` is not merged into another contact');
};
