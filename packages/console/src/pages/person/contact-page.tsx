/** A contact's page: details, browsers, claims, actions and history. */
import type { ResponseFor } from '@firsthand/client';
import { Card } from '../../parts/card.tsx';
import { Avatar, Badge, CopyableText, RelativeTime } from '../../parts/small.tsx';
import { attributeName } from '../../reading/filter.ts';
import { nameOfPerson } from '../../reading/person.ts';
import { Actions } from './actions.tsx';
import { Basis } from './basis.tsx';
import { BrowserNumbers } from './browser-mark.tsx';
import { Browsers } from './browsers.tsx';
import { Claims } from './claims.tsx';
import { numbersOf, toLinkEntries, toMergeEntries } from './history.ts';
import { Timeline } from './timeline.tsx';

type ContactResponse = ResponseFor<'getContact'>;

const fields = {
  contactTitle: 'Title',
  contactEmailaddress: 'E-mail',
  contactTelephone: 'Phone',
  contactMobile: 'Mobile',
  contactJobRole: 'Job role',
  contactExternalID: 'Your ID',
} as const;

const Facts = ({ contact }: Pick<ContactResponse, 'contact'>) => {
  const isClaimed = (name: string) => contact.claimed.includes(name);
  const rows = [
    ...Object.entries(fields).map(
      ([name, label]) => [label, contact[name as keyof typeof fields], isClaimed(name)] as const,
    ),
    ['Profile', contact.contactProfileName, isClaimed('contactProfileID')] as const,
    ...contact.contactAttr.map(({ attrID, attrValue }) => [attributeName(attrID), attrValue, false] as const),
  ].filter(([, value]) => value !== '');
  return (
    <Card title="Details">
      <dl class="facts">
        {rows.map(([label, value, claimed]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <CopyableText text={value} /> {claimed && <Basis />}
            </dd>
          </div>
        ))}
        <div>
          <dt>Contact since</dt>
          <dd>
            <RelativeTime time={contact.createdTime} />
          </dd>
        </div>
      </dl>
    </Card>
  );
};

export const ContactPage = ({
  response,
  reload,
}: {
  readonly response: ContactResponse;
  readonly reload: () => void;
}) => {
  const { contact, claim = [], link = [], merge = [] } = response;
  const { contactUUID, contactStatus, tag, claimed } = contact;
  const name = nameOfPerson(contact);
  const isNameClaimed = claimed.includes('contactFirstname') || claimed.includes('contactLastname');
  return (
    <>
      <header class="person-head">
        <Avatar id={contactUUID} name={name} />
        <div>
          <h1>
            {name} {isNameClaimed && <Basis />}
          </h1>
          <p class="badges">
            {contactStatus !== 'active' && <Badge tone="bad">{contactStatus}</Badge>}
            {tag
              .filter(({ opt }) => opt)
              .map(({ tagID, tagName }) => (
                <Badge key={tagID}>{tagName}</Badge>
              ))}
            <span class="soft">ID:</span> <CopyableText text={contactUUID} />
          </p>
        </div>
        <Actions contact={contact} reload={reload} />
      </header>
      <BrowserNumbers.Provider value={numbersOf(link)}>
        <div class="person">
          <Timeline
            person={{ contactUUID }}
            marks={[...toLinkEntries(link), ...toMergeEntries(merge)]}
            reload={reload}
            version={response}
          />
          <div class="person-side">
            <Facts contact={contact} />
            <Browsers links={link} reload={reload} />
            <Claims claims={claim} reload={reload} />
          </div>
        </div>
      </BrowserNumbers.Provider>
    </>
  );
};
