/** A browser by itself, most often one that nobody is known for. */
import { ContactLink } from '../../parts/contact-link.tsx';
import { Copyable, Face } from '../../parts/small.tsx';
import { nameOfUser } from '../../reading/person.ts';
import { LinkDialogButton } from './linking.tsx';
import { SeenLine, useSeen } from './seen.tsx';
import { Timeline } from './timeline.tsx';

export const Anonymous = ({ userUUID }: { readonly userUUID: string }) => {
  const name = nameOfUser(userUUID);
  const seen = useSeen(userUUID);
  return (
    <>
      <header class="person-head">
        <Face id={userUUID} name={name} isAnonymous />
        <div>
          <h1>{name}</h1>
          <p class="soft">
            A browser.{' '}
            {seen?.contactUUID ? (
              <>
                Its newest event belongs to <ContactLink contactUUID={seen.contactUUID} />.
              </>
            ) : (
              seen?.lastTime && 'Its newest event does not belong to a contact.'
            )}{' '}
            ID: <Copyable text={userUUID} />
          </p>
          <p class="soft seen">
            {seen?.name && `${seen.name} · `}
            <SeenLine seen={seen} />
          </p>
        </div>
        <LinkDialogButton userUUID={userUUID} />
      </header>
      <Timeline of={{ userUUID }} turns={[]} again={() => {}} />
    </>
  );
};
