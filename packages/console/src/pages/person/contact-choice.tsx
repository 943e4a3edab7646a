/** A dialog to choose a contact, and the button that links a browser to the chosen one. */
import type { ResponseFor } from '@firsthand/client';
import { useEffect, useState } from 'preact/hooks';
import { go, hrefOf } from '../../address.ts';
import { api, messageOf } from '../../api.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { act, show } from '../../parts/notices.tsx';
import { Avatar } from '../../parts/small.tsx';
import { canEdit } from '../../reading/account.ts';
import { nameOfPerson } from '../../reading/person.ts';

export type ContactResult = ResponseFor<'searchContact'>['contact'][number];

const typingMs = 150;
const limit = 8;

interface ContactChoiceProps {
  readonly title: string;
  /** The effect of choosing a contact. */
  readonly description: string;
  readonly choose: (contact: ContactResult) => void;
  readonly close: () => void;
  /** The contactUUID of a contact that is not offered. */
  readonly excludedUUID?: string;
}

export const ContactChoice = ({ title, description, choose, close, excludedUUID }: ContactChoiceProps) => {
  const [text, setText] = useState('');
  const [matches, setMatches] = useState<readonly ContactResult[]>([]);
  useEffect(() => {
    const controller = new AbortController();
    const search = () =>
      api
        .searchContact(
          { text: text.trim() || undefined, limit: limit + 1, sort: 'seen', order: 'desc' },
          { signal: controller.signal },
        )
        .then(({ contact }) =>
          setMatches(contact.filter(({ contactUUID }) => contactUUID !== excludedUUID).slice(0, limit)),
        )
        .catch(() => {});
    const timer = setTimeout(search, typingMs);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [text, excludedUUID]);
  return (
    <Dialog title={title} close={close} class="choice">
      <p>{description}</p>
      <input
        type="search"
        aria-label="Name or e-mail address"
        placeholder="Name or e-mail address"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <ul class="choices">
        {matches.map((contact) => {
          const name = nameOfPerson(contact);
          return (
            <li key={contact.contactUUID}>
              <button type="button" onClick={() => choose(contact)}>
                <Avatar id={contact.contactUUID} name={name} />
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
  if (!canEdit.value) return null;
  const link = async (contact: ContactResult) => {
    setOpen(false);
    const { contactUUID } = contact;
    try {
      const { exists, linkID } = await api.linkUser({ userUUID, contactUUID });
      const name = nameOfPerson(contact);
      // Offers no undo if the link already existed: the undo would void that link.
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
        Link to a contact…
      </button>
      {isOpen && (
        <ContactChoice
          title="Whose browser is this?"
          description="This browser and its anonymous history will belong to the contact you choose. You can undo this."
          choose={link}
          close={() => setOpen(false)}
        />
      )}
    </>
  );
};
