/** Undoes an import after a confirmation. */
import type { ResponseFor } from '@firsthand/client';
import { useState } from 'preact/hooks';
import { api } from '../../../api.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { act } from '../../../parts/notices.tsx';
import { formatWhole } from '../../../reading/format.ts';
import { eventImport } from './event-import.ts';

export type Import = ResponseFor<'listImports'>['import'][number];

const consequencesOf = ({ kind, imported }: Import): string =>
  kind === 'events'
    ? `Its ${formatWhole(imported)} ${imported === 1 ? 'record is' : 'records are'} removed: events, links between browsers and contacts, and the contacts that it created. Contacts that have since been changed or used by something else stay.`
    : 'The contacts that it created are removed, and the values that it replaced are restored, unless they have changed since. Contacts that have since been changed, linked or merged stay.';

export const UndoImport = ({ item, refresh }: { readonly item: Import; readonly refresh: () => void }) => {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  const { importID, importName } = item;
  const undo = () => {
    close();
    const begin = async () => {
      await api.undoImport({ importID });
      // Hide the import's result, which no longer holds.
      if (eventImport.peek()?.importID === importID) eventImport.value = undefined;
    };
    return act(begin, { done: `Undoing the import of ${importName}.`, refresh });
  };
  return (
    <>
      <button
        type="button"
        class="quiet"
        aria-haspopup="dialog"
        aria-label={`Undo the import of ${importName}`}
        onClick={() => setOpen(true)}
      >
        Undo
      </button>
      {isOpen && (
        <Dialog title={`Undo the import of ${importName}?`} close={close}>
          <p>{consequencesOf(item)}</p>
          <p>
            <strong>The undo can’t be undone</strong>, but you can import the file again.
          </p>
          <p class="dialog-actions">
            <button type="button" onClick={close}>
              Cancel
            </button>
            <button type="button" class="danger" onClick={undo}>
              Undo import
            </button>
          </p>
        </Dialog>
      )}
    </>
  );
};
