/** The actions on a contact: merge, export, erase. Each explains its effect first. */
import type { AnswerFor } from '@firsthand/client';
import { useState } from 'preact/hooks';
import { go, hrefOf } from '../../address.ts';
import { api } from '../../api.ts';
import { download } from '../../parts/csv.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { act, show } from '../../parts/notices.tsx';
import { isOwner, mayChange } from '../../reading/account.ts';
import { nameOfPerson } from '../../reading/person.ts';

import { EditContact } from './edit-contact.tsx';
import { ContactChoice, type FoundContact } from './linking.tsx';

type Contact = AnswerFor<'getContact'>['contact'];

interface DialogProps {
  readonly contact: Contact;
  readonly close: () => void;
}

const Erase = ({ contact, close }: DialogProps) => {
  const [typed, setTyped] = useState('');
  const name = nameOfPerson(contact);
  const erase = async (event: Event) => {
    event.preventDefault();
    const done = await act(() => api.eraseContact({ contactUUID: contact.contactUUID }), {
      done: `${name} is erased.`,
    });
    close();
    if (done) go(hrefOf('people', { contact: null }));
  };
  return (
    <Dialog title={`Erase ${name}?`} close={close}>
      <p>
        This person and all their events disappear immediately and are then deleted from the files.{' '}
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
            Erase for good
          </button>
        </p>
      </form>
    </Dialog>
  );
};

/** Everything that the service holds of a contact, as one JSON file. */
const exportAll = async ({ contactUUID }: Contact): Promise<void> => {
  const pages: unknown[] = [];
  for await (const page of api.pages('exportContact', { contactUUID })) pages.push(page);
  download(`contact-${contactUUID}.json`, new Blob([JSON.stringify(pages, null, 2)], { type: 'application/json' }));
};

export const Actions = ({ contact, again }: { readonly contact: Contact; readonly again: () => void }) => {
  const [open, setOpen] = useState<'edit' | 'merge' | 'erase' | undefined>(undefined);
  if (!mayChange.value) return null;
  const close = () => setOpen(undefined);
  const { contactUUID } = contact;
  const merge = (other: FoundContact) => {
    close();
    return act(() => api.mergeContact({ contactUUID, otherContactUUID: other.contactUUID }), {
      done: `${nameOfPerson(other)} is part of this contact now.`,
      undo: () => api.unmergeContact({ otherContactUUID: other.contactUUID }),
      after: again,
    });
  };
  const save = () => exportAll(contact).catch((error: Error) => show({ text: error.message, isProblem: true }));
  return (
    <div class="actions">
      <button type="button" onClick={() => setOpen('edit')}>
        Edit …
      </button>
      <button type="button" onClick={() => setOpen('merge')}>
        Merge …
      </button>
      <button type="button" onClick={save}>
        Export
      </button>
      {isOwner.value && (
        <button type="button" class="danger" onClick={() => setOpen('erase')}>
          Erase …
        </button>
      )}
      {open === 'edit' && <EditContact contact={contact} again={again} close={close} />}
      {open === 'merge' && (
        <ContactChoice
          title="Who is the same person?"
          explains="The contact you choose becomes part of this one. No event is rewritten, and you can undo the merge."
          without={contactUUID}
          choose={merge}
          close={close}
        />
      )}
      {open === 'erase' && <Erase contact={contact} close={close} />}
    </div>
  );
};
