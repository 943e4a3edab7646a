/** A browser that nobody is known for. */
import { Copyable, Face } from '../../parts/small.tsx';
import { nameOfUser } from '../../reading/person.ts';
import { LinkDialogButton } from './linking.tsx';
import { Timeline } from './timeline.tsx';

export const Anonymous = ({ userUUID }: { readonly userUUID: string }) => {
  const name = nameOfUser(userUUID);
  return (
    <>
      <header class="person-head">
        <Face id={userUUID} name={name} isAnonymous />
        <div>
          <h1>{name}</h1>
          <p class="soft">A browser. Nobody is known for its newest events.</p>
        </div>
        <LinkDialogButton userUUID={userUUID} />
      </header>
      <p class="person-ids">
        <Copyable text={userUUID} />
      </p>
      <Timeline of={{ userUUID }} turns={[]} again={() => {}} />
    </>
  );
};
