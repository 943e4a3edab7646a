/** The person page: details, browsers, and history with the moment of recognition. */
import { query } from '../address.ts';
import { api } from '../api.ts';
import { AnswerView } from '../parts/card.tsx';
import { EmptyState } from '../parts/small.tsx';
import { useAnswer } from '../reading/answer.ts';
import { BrowserPage } from './person/browser-page.tsx';
import { ContactPage } from './person/contact-page.tsx';

const Contact = ({ contactUUID }: { readonly contactUUID: string }) => {
  const answer = useAnswer(`contact ${contactUUID}`, (signal) =>
    api.getContact({ contactUUID, include: 'claim,link,merge' }, { signal }),
  );
  return <AnswerView answer={answer}>{(value) => <ContactPage answer={value} reload={answer.reload} />}</AnswerView>;
};

export const Person = () => {
  const contact = query.value.get('contact');
  const user = query.value.get('user');
  if (contact) return <Contact key={contact} contactUUID={contact} />;
  if (user) return <BrowserPage key={user} userUUID={user} />;
  return (
    <EmptyState title="This link doesn’t lead to a person">
      <p>
        <a href="people">Find a person</a>
      </p>
    </EmptyState>
  );
};
