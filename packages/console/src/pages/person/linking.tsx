/** Chooses a contact for something: to link a browser to, to merge. */
import type { AnswerFor } from '@firsthand/client';
import { useEffect, useState } from 'preact/hooks';
import { go, hrefOf } from '../../address.ts';
import { api, messageOf } from '../../api.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { act, show } from '../../parts/notices.tsx';
import { Face } from '../../parts/small.tsx';
import { mayChange } from '../../reading/account.ts';
import { nameOfPerson } from '../../reading/person.ts';

export type FoundContact = AnswerFor<'searchContact'>['contact'][number];

const typingMs = 150;
const limit = 8;

interface ContactChoiceProps {
  readonly title: string;
  /** What choosing will do. */
  readonly explains: string;
  readonly choose: (contact: FoundContact) => void;
  readonly close: () => void;
  /** Left out of what is found. */
  readonly without?: string;
}

export const ContactChoice = ({ title, explains, choose, close, without }: ContactChoiceProps) => {
  const [text, setText] = useState('');
  const [found, setFound] = useState<readonly FoundContact[]>([]);
  useEffect(() => {
    const ending = new AbortController();
    const search = () =>
      api
        .searchContact(
          { text: text.trim() || undefined, limit: limit + 1, sort: 'seen', order: 'desc' },
          { signal: ending.signal },
        )
        .then(({ contact }) => setFound(contact.filter(({ contactUUID }) => contactUUID !== without).slice(0, limit)))
        .catch(() => {});
    const timer = setTimeout(search, typingMs);
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [text, without]);
  return (
    <Dialog title={title} close={close} class="choice">
      <p>{explains}</p>
      <input
        type="search"
        aria-label="Name or e-mail address"
        placeholder="Name or e-mail address"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <ul class="choices">
        {found.map((contact) => {
          const name = nameOfPerson(contact);
          return (
            <li key={contact.contactUUID}>
              <button type="button" onClick={() => choose(contact)}>
                <Face id={contact.contactUUID} name={name} />
                <span>
                  {name}
                  <small>{contact.contactEmailaddress}</small>
                </span>
              </button>
            </li>
          );
        })}
      </ul>
      <p class="dialog-actions">
        <button type="button" onClick={close}>
          Cancel
        </button>
      </p>
    </Dialog>
  );
};

export const LinkDialogButton = ({ userUUID }: { readonly userUUID: string }) => {
  const [isOpen, setOpen] = useState(false);
  if (!mayChange.value) return null;
  const link = async (contact: FoundContact) => {
    setOpen(false);
    const { contactUUID } = contact;
    try {
      const { exists, linkID } = await api.linkUser({ userUUID, contactUUID });
      const name = nameOfPerson(contact);
      // Undoing must not take away a link that was there before.
      if (exists) show({ text: `This browser already belongs to ${name}.` });
      else
        show({
          text: `This browser and its anonymous history now belong to ${name}.`,
          undo: () => act(() => api.voidLink({ linkID }), { done: 'Undone.' }),
        });
      go(hrefOf('person', { contact: contactUUID, user: null }));
    } catch (error) {
      show({ text: messageOf(error), isProblem: true });
    }
  };
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Link to a contact …
      </button>
      {isOpen && (
        <ContactChoice
          title="Whose browser is this?"
          explains="This browser, with its anonymous history, will belong to them. You can undo this."
          choose={link}
          close={() => setOpen(false)}
        />
      )}
    </>
  );
};
