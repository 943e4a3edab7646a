/** A mark in the timeline for a contact that was merged into this one. The merge can be taken back. */
import { api } from '../../api.ts';
import { act } from '../../parts/notices.tsx';
import { At } from '../../parts/small.tsx';
import { mayChange } from '../../reading/account.ts';
import { nameOfPerson } from '../../reading/person.ts';
import type { MergeTurn } from './history.ts';

export const MergeMark = ({ turn, after }: { readonly turn: MergeTurn; readonly after: () => unknown }) => {
  const { contactUUID: otherContactUUID, intoContactUUID: contactUUID, contactEmailaddress, mergedTime } = turn.merge;
  const name = nameOfPerson(turn.merge);
  const unmerge = () =>
    act(() => api.unmergeContact({ otherContactUUID }), {
      done: `${name} is a contact again, as before the merge.`,
      undo: () => api.mergeContact({ contactUUID, otherContactUUID }),
      after,
    });
  return (
    <li class="turn">
      <div>
        <p>
          <At time={mergedTime} /> <strong>Merged: {name} became part of this contact</strong>
        </p>
        {contactEmailaddress !== '' && contactEmailaddress !== name && <p class="soft">{contactEmailaddress}</p>}
      </div>
      {mayChange.value && (
        <button type="button" onClick={unmerge}>
          Unmerge
        </button>
      )}
    </li>
  );
};
