/** A link to a contact by its ID. The name is fetched once and cached. */
import { useEffect, useState } from 'preact/hooks';
import { hrefOf } from '../address.ts';
import { api, isGone } from '../api.ts';
import { nameOfPerson } from '../reading/person.ts';

/** undefined: the contact no longer exists. */
const names = new Map<string, Promise<string | undefined>>();
const maxNames = 1_000;

const nameOfContact = (contactUUID: string): Promise<string | undefined> => {
  const cached = names.get(contactUUID);
  if (cached) return cached;
  const name = api.getContact({ contactUUID }).then(
    ({ contact }) => nameOfPerson(contact),
    (error) => {
      if (isGone(error)) return undefined;
      names.delete(contactUUID);
      return 'A contact';
    },
  );
  if (names.size >= maxNames) names.clear();
  names.set(contactUUID, name);
  return name;
};

export const ContactLink = ({ contactUUID }: { readonly contactUUID: string }) => {
  const [name, setName] = useState<string | undefined>('…');
  useEffect(() => {
    nameOfContact(contactUUID).then(setName);
  }, [contactUUID]);
  return name === undefined ? (
    <span>Contact {contactUUID.slice(0, 6)}</span>
  ) : (
    <a href={hrefOf('person', { contact: contactUUID })}>{name}</a>
  );
};
