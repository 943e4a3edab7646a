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
    ? `Its ${formatWhole(imported)} ${imported === 1 ? 'record is' : 'records are'} removed: events, links of browsers to contacts, and the contacts that it created. Contacts that have changed since, or that other data belongs to, stay.`
    : 'The contacts that it created are removed, and values that it replaced are restored where they are still those of the file. Contacts that have changed since, or that other data belongs to, stay.';

export const UndoImport = ({ of, after }: { readonly of: Import; readonly after: () => void }) => {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  const { importID, importName } = of;
  const undo = () => {
    close();
    const begin = async () => {
      await api.undoImport({ importID });
      // Hide the import's result, which no longer holds.
      if (eventImport.peek()?.importID === importID) eventImport.value = undefined;
    };
    return act(begin, { done: `Undoing the import of ${importName}.`, after });
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
          <p>{consequencesOf(of)}</p>
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
