/** The person page: details, browsers, and a history that marks when the visitor was identified. */
import { query } from '../address.ts';
import { api } from '../api.ts';
import { ResponseView } from '../parts/card.tsx';
import { EmptyState } from '../parts/small.tsx';
import { useFetch } from '../reading/use-fetch.ts';
import { BrowserPage } from './person/browser-page.tsx';
import { ContactPage } from './person/contact-page.tsx';

const Contact = ({ contactUUID }: { readonly contactUUID: string }) => {
  const response = useFetch(`contact ${contactUUID}`, (signal) =>
    api.getContact({ contactUUID, include: 'claim,link,merge' }, { signal }),
  );
  return (
    <ResponseView response={response}>
      {(value) => <ContactPage response={value} reload={response.reload} />}
    </ResponseView>
  );
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
