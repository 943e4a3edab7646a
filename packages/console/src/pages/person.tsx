/** The person page: who somebody is, with which browsers, and all that they did, with the moment they were recognized. */
import { query } from '../address.ts';
import { api } from '../api.ts';
import { Answered } from '../parts/card.tsx';
import { Empty } from '../parts/small.tsx';
import { useAnswer } from '../reading/answer.ts';
import { Anonymous } from './person/anonymous.tsx';
import { Known } from './person/known.tsx';

const KnownPerson = ({ contactUUID }: { readonly contactUUID: string }) => {
  const answer = useAnswer(`contact ${contactUUID}`, (signal) =>
    api.getContact({ contactUUID, include: 'claim,link,merge' }, { signal }),
  );
  return <Answered answer={answer}>{(found) => <Known found={found} again={answer.again} />}</Answered>;
};

export const Person = () => {
  const contact = query.value.get('contact');
  const user = query.value.get('user');
  if (contact) return <KnownPerson key={contact} contactUUID={contact} />;
  if (user) return <Anonymous key={user} userUUID={user} />;
  return (
    <Empty title="This link doesn’t name a person">
      <p>
        <a href="people">Find a person</a>
      </p>
    </Empty>
  );
};
