/** The timeline entry for a contact that was merged into this one. The merge can be undone. */
import { api } from '../../api.ts';
import { act } from '../../parts/notices.tsx';
import { Time } from '../../parts/small.tsx';
import { canEdit } from '../../reading/account.ts';
import { nameOfPerson } from '../../reading/person.ts';
import type { MergeEntry } from './history.ts';

export const MergeMark = ({ entry, refresh }: { readonly entry: MergeEntry; readonly refresh: () => unknown }) => {
  const { contactUUID: otherContactUUID, intoContactUUID: contactUUID, contactEmailaddress, mergedTime } = entry.merge;
  const name = nameOfPerson(entry.merge);
  const unmerge = () =>
    act(() => api.unmergeContact({ otherContactUUID }), {
      done: `${name} is a separate contact again.`,
      undo: () => api.mergeContact({ contactUUID, otherContactUUID }),
      refresh,
    });
  return (
    <li class="turn">
      <div>
        <p>
          <Time time={mergedTime} /> <strong>Merged: {name} is now part of this contact</strong>
        </p>
        {contactEmailaddress !== '' && contactEmailaddress !== name && <p class="soft">{contactEmailaddress}</p>}
      </div>
      {canEdit.value && (
        <button type="button" onClick={unmerge}>
          Unmerge
        </button>
      )}
    </li>
  );
};
