/** Decides which merges of contacts are refused, for both drivers. */
import { wouldCycle } from '../../identity/merges.ts';
import { Refusal } from '../../shared/refusal.ts';

interface Mergeable {
  readonly contact: number;
  readonly mergedInto: number | null;
}

const refused = (message: string) => new Refusal('merge_refused', { field: 'otherContactUUID', message });

/** Throws a Refusal when `other` can't be merged into `keep`. `mergedInto` holds the merges that follow from `keep`. */
export const checkMerge = (mergedInto: ReadonlyMap<number, number>, keep: Mergeable, other: Mergeable): void => {
  if (other.mergedInto !== null) {
    throw refused('`otherContactUUID` is merged into another contact already; unmerge it first');
  }
  if (wouldCycle(mergedInto, keep.contact, other.contact)) {
    throw refused('the merge would make a circle: `contactUUID` is `otherContactUUID`, or is merged into it');
  }
};

/** Throws a Refusal when a contact isn't merged into any. */
export const checkUnmerge = (other: Mergeable): void => {
  if (other.mergedInto === null) throw refused('`otherContactUUID` is not merged into any contact');
};
