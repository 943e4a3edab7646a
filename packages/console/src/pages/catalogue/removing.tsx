/** Removing an entry; one that is in use only after the reader has confirmed what will happen. */
import { FirsthandError } from '@firsthand/client';
import { useState } from 'preact/hooks';
import { api } from '../../api.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { act } from '../../parts/notices.tsx';
import { readAccount } from '../../reading/account.ts';
import { formatWhole } from '../../reading/format.ts';
import { type Entry, type Kind, kinds, requestFor } from './entries.ts';

interface EntryProps {
  readonly kind: Kind;
  readonly entry: Entry;
}

const consequences = ({ kind, entry }: EntryProps): string => {
  switch (kind) {
    case 'event':
      return `Events of this kind (${formatWhole(entry.uses?.count ?? 0)} so far) stay as they are and show the number ${entry.id} instead of the name.`;
    case 'attr':
      return 'Every contact that has the attribute loses it. Events stay as they are and show the ID instead of the name.';
    case 'tag':
      return 'Every contact that has the tag loses it. The contacts themselves and their events stay.';
    case 'profile':
      return 'Every contact with this profile loses it. The contacts themselves and their events stay.';
  }
};

/** Removes an entry. Returns the code of the error if it is in use, '' otherwise. */
const remove = async ({ kind, entry }: EntryProps, force: boolean): Promise<'id_in_use' | ''> => {
  const { id, name, browser, type } = entry;
  const attempt = api.updateAccount(requestFor(kind, id, { remove: true, ...(force && { force }) }));
  const isInUse = await attempt.then(
    () => false,
    (error) => error instanceof FirsthandError && error.code === 'id_in_use',
  );
  if (isInUse) return 'id_in_use';
  // What was taken away from contacts does not come back with the entry.
  const canUndo = !force || kind === 'event';
  await act(() => attempt, {
    done: `Removed the ${kinds[kind].one} “${name}”.`,
    undo: canUndo ? () => api.updateAccount(requestFor(kind, id, { name, browser, type })) : undefined,
    after: readAccount,
  });
  return '';
};

export const Remove = ({ kind, entry }: EntryProps) => {
  const [isAsking, setAsking] = useState(false);
  const { one } = kinds[kind];
  const attempt = async (force: boolean) => {
    setAsking(false);
    if ((await remove({ kind, entry }, force)) === 'id_in_use') setAsking(true);
  };
  return (
    <>
      <button type="button" class="quiet" aria-label={`Remove ${entry.name}`} onClick={() => attempt(false)}>
        Remove
      </button>
      {isAsking && (
        <Dialog title={`“${entry.name}” is in use`} close={() => setAsking(false)}>
          <p>The {one} was not removed, because it is in use. If you remove it all the same:</p>
          <p>
            {consequences({ kind, entry })} {kind !== 'event' && <strong>This cannot be undone.</strong>}
          </p>
          <p class="dialog-actions">
            <button type="button" onClick={() => setAsking(false)}>
              Cancel
            </button>
            <button type="button" class="danger" onClick={() => attempt(true)}>
              Remove anyway
            </button>
          </p>
        </Dialog>
      )}
    </>
  );
};
