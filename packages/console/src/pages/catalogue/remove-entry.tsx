/** Removes an entry. If it is in use, a dialog first explains the consequences. */
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
      return `Stored events (${formatWhole(entry.uses?.count ?? 0)}) are kept, but show the ID ${entry.id} instead of the name.`;
    case 'attr':
      return 'The attribute will be removed from every contact. Events keep it, but show its ID instead of its name.';
    case 'tag':
      return 'The tag will be removed from every contact. The contacts and their events stay.';
    case 'profile':
      return 'Contacts with this profile will no longer have a profile. The contacts and their events stay.';
  }
};

/** Removes an entry. Returns `id_in_use` if the entry is in use and the removal is not forced. */
const remove = async ({ kind, entry }: EntryProps, force: boolean): Promise<'id_in_use' | ''> => {
  const { id, name, browser, type } = entry;
  const attempt = api.updateAccount(requestFor(kind, id, { remove: true, ...(force && { force }) }));
  const isInUse = await attempt.then(
    () => false,
    (error) => error instanceof FirsthandError && error.code === 'id_in_use',
  );
  if (isInUse) return 'id_in_use';
  // Adding the entry again would not restore it for the contacts that lost it.
  const canUndo = !force || kind === 'event';
  await act(() => attempt, {
    done: `Removed the ${kinds[kind].singular} “${name}”.`,
    undo: canUndo ? () => api.updateAccount(requestFor(kind, id, { name, browser, type })) : undefined,
    refresh: readAccount,
  });
  return '';
};

export const RemoveEntry = ({ kind, entry }: EntryProps) => {
  const [isConfirming, setConfirming] = useState(false);
  const { singular } = kinds[kind];
  const attempt = async (force: boolean) => {
    setConfirming(false);
    if ((await remove({ kind, entry }, force)) === 'id_in_use') setConfirming(true);
  };
  return (
    <>
      <button type="button" class="quiet" aria-label={`Remove ${entry.name}`} onClick={() => attempt(false)}>
        Remove
      </button>
      {isConfirming && (
        <Dialog title={`“${entry.name}” is in use`} close={() => setConfirming(false)}>
          <p>This {singular} was not removed because it is in use. If you remove it anyway:</p>
          <p>
            {consequences({ kind, entry })} {kind !== 'event' && <strong>This cannot be undone.</strong>}
          </p>
          <p class="dialog-actions">
            <button type="button" onClick={() => setConfirming(false)}>
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
