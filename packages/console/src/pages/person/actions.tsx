/** The actions on a contact: edit, merge, export, erase. */
import type { ResponseFor } from '@firsthand/client';
import { useState } from 'preact/hooks';
import { go, hrefOf } from '../../address.ts';
import { api, messageOf } from '../../api.ts';
import { download } from '../../parts/csv.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { act, show } from '../../parts/notices.tsx';
import { canEdit, isOwner } from '../../reading/account.ts';
import { nameOfPerson } from '../../reading/person.ts';
import { ContactChoice, type ContactResult } from './contact-choice.tsx';
import { EditContact } from './edit-contact.tsx';

type Contact = ResponseFor<'getContact'>['contact'];

interface DialogProps {
  readonly contact: Contact;
  readonly close: () => void;
}

const EraseDialog = ({ contact, close }: DialogProps) => {
  const [typed, setTyped] = useState('');
  const name = nameOfPerson(contact);
  const erase = async (event: Event) => {
    event.preventDefault();
    const done = await act(() => api.eraseContact({ contactUUID: contact.contactUUID }), {
      done: `Erased ${name}.`,
    });
    close();
    if (done) go(hrefOf('people', { contact: null }));
  };
  return (
    <Dialog title={`Erase ${name}?`} close={close}>
      <p>
        This person and all their events disappear immediately and are then deleted from disk.{' '}
        <strong>This cannot be undone.</strong> Their browsers become anonymous.
      </p>
      <form class="stacked" onSubmit={erase}>
        <label for="erase-name">
          To confirm, type <strong>{name}</strong>
        </label>
        <input
          id="erase-name"
          autocomplete="off"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <p class="dialog-actions">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="danger" disabled={typed.trim() !== name}>
            Erase permanently
          </button>
        </p>
      </form>
    </Dialog>
  );
};

/** Downloads everything the service stores about a contact, as one JSON file. */
const exportAll = async ({ contactUUID }: Contact): Promise<void> => {
  const pages: unknown[] = [];
  for await (const page of api.pages('exportContact', { contactUUID })) pages.push(page);
  download(`contact-${contactUUID}.json`, new Blob([JSON.stringify(pages, null, 2)], { type: 'application/json' }));
};

export const Actions = ({ contact, reload }: { readonly contact: Contact; readonly reload: () => void }) => {
  const [open, setOpen] = useState<'edit' | 'merge' | 'erase' | undefined>(undefined);
  if (!canEdit.value) return null;
  const close = () => setOpen(undefined);
  const { contactUUID } = contact;
  const merge = (other: ContactResult) => {
    close();
    return act(() => api.mergeContact({ contactUUID, otherContactUUID: other.contactUUID }), {
      done: `Merged ${nameOfPerson(other)} into this contact.`,
      undo: () => api.unmergeContact({ otherContactUUID: other.contactUUID }),
      refresh: reload,
    });
  };
  const save = () => exportAll(contact).catch((error) => show({ text: messageOf(error), isProblem: true }));
  return (
    <div class="actions">
      <button type="button" onClick={() => setOpen('edit')}>
        Edit…
      </button>
      <button type="button" onClick={() => setOpen('merge')}>
        Merge…
      </button>
      <button type="button" onClick={save}>
        Export
      </button>
      {isOwner.value && (
        <button type="button" class="danger" onClick={() => setOpen('erase')}>
          Erase…
        </button>
      )}
      {open === 'edit' && <EditContact contact={contact} reload={reload} close={close} />}
      {open === 'merge' && (
        <ContactChoice
          title="Merge another contact into this one"
          description="Choose the contact that is the same person. Stored events do not change, and you can undo the merge."
          excludedUUID={contactUUID}
          choose={merge}
          close={close}
        />
      )}
      {open === 'erase' && <EraseDialog contact={contact} close={close} />}
    </div>
  );
};
