/** A contact: name, fields with those that only a claim fills, tags, browsers, what can be done, and the history. */
import type { AnswerFor } from '@firsthand/client';
import { Card } from '../../parts/card.tsx';
import { Ago, Badge, Copyable, Face } from '../../parts/small.tsx';
import { attributeName } from '../../reading/filter.ts';
import { nameOfPerson } from '../../reading/person.ts';
import { Actions } from './actions.tsx';
import { Basis } from './basis.tsx';
import { BrowserNumbers } from './browser-mark.tsx';
import { Browsers } from './browsers.tsx';
import { Claims } from './claims.tsx';
import { numbersOf, toMergeTurns, toTurns } from './history.ts';
import { Timeline } from './timeline.tsx';

type Found = AnswerFor<'getContact'>;

const fields = {
  contactTitle: 'Title',
  contactEmailaddress: 'E-mail',
  contactTelephone: 'Telephone',
  contactMobile: 'Mobile',
  contactJobRole: 'Job',
  contactExternalID: 'Your ID',
} as const;

const Facts = ({ contact }: Pick<Found, 'contact'>) => {
  const isClaimed = (name: string) => contact.claimed.includes(name);
  const rows = [
    ...Object.entries(fields).map(
      ([name, label]) => [label, contact[name as keyof typeof fields], isClaimed(name)] as const,
    ),
    ['Profile', contact.contactProfileName, isClaimed('contactProfileID')] as const,
    ...contact.contactAttr.map(({ attrID, attrValue }) => [attributeName(attrID), attrValue, false] as const),
  ].filter(([, value]) => value !== '');
  return (
    <Card title="Who this is">
      <dl class="facts">
        {rows.map(([label, value, claimed]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <Copyable text={value} /> {claimed && <Basis />}
            </dd>
          </div>
        ))}
        <div>
          <dt>Known since</dt>
          <dd>
            <Ago time={contact.createdTime} />
          </dd>
        </div>
      </dl>
    </Card>
  );
};

export const Known = ({ found, again }: { readonly found: Found; readonly again: () => void }) => {
  const { contact, claim = [], link = [], merge = [] } = found;
  const { contactUUID, contactStatus, tag, claimed } = contact;
  const name = nameOfPerson(contact);
  const isNameClaimed = claimed.includes('contactFirstname') || claimed.includes('contactLastname');
  return (
    <>
      <header class="person-head">
        <Face id={contactUUID} name={name} />
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
            <span class="soft">ID:</span> <Copyable text={contactUUID} />
          </p>
        </div>
        <Actions contact={contact} again={again} />
      </header>
      <BrowserNumbers.Provider value={numbersOf(link)}>
        <div class="person">
          <Timeline
            of={{ contactUUID }}
            turns={[...toTurns(link), ...toMergeTurns(merge)]}
            again={again}
            version={found}
          />
          <div class="person-side">
            <Facts contact={contact} />
            <Browsers links={link} again={again} />
            <Claims claims={claim} again={again} />
          </div>
        </div>
      </BrowserNumbers.Provider>
    </>
  );
};
