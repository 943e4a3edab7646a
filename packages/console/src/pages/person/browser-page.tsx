/** The page about a single browser, which is usually anonymous. */
import { ContactLink } from '../../parts/contact-link.tsx';
import { Avatar, CopyableText } from '../../parts/small.tsx';
import { nameOfUser } from '../../reading/person.ts';
import { BrowserSummaryLine, useBrowserSummary } from './browser-summary.tsx';
import { LinkDialogButton } from './contact-choice.tsx';
import { Timeline } from './timeline.tsx';

export const BrowserPage = ({ userUUID }: { readonly userUUID: string }) => {
  const name = nameOfUser(userUUID);
  const summary = useBrowserSummary(userUUID);
  return (
    <>
      <header class="person-head">
        <Avatar id={userUUID} name={name} isAnonymous />
        <div>
          <h1>{name}</h1>
          <p class="soft">
            A browser.{' '}
            {summary?.contactUUID ? (
              <>
                Its latest event belongs to <ContactLink contactUUID={summary.contactUUID} />.
              </>
            ) : (
              summary?.lastTime && 'Its latest event is anonymous.'
            )}{' '}
            ID: <CopyableText text={userUUID} />
          </p>
          <p class="soft seen">
            {summary?.name && `${summary.name} · `}
            <BrowserSummaryLine summary={summary} />
          </p>
        </div>
        <LinkDialogButton userUUID={userUUID} />
      </header>
      <Timeline person={{ userUUID }} marks={[]} reload={() => {}} />
    </>
  );
};
