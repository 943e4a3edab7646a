/** A person's current browsers. */
import { useState } from 'preact/hooks';
import { Card } from '../../parts/card.tsx';
import { CopyableText, EmptyState } from '../../parts/small.tsx';
import { canEdit } from '../../reading/account.ts';
import { formatWhole } from '../../reading/format.ts';
import { nameOfUser } from '../../reading/person.ts';
import { Basis } from './basis.tsx';
import { BrowserMark } from './browser-mark.tsx';
import { BrowserSummaryLine, useBrowserSummary } from './browser-summary.tsx';
import { browsersOf, type Link } from './history.ts';
import { UnlinkDialog } from './unlink-dialog.tsx';

interface BrowsersProps {
  readonly links: readonly Link[];
  readonly reload: () => void;
}

/** Other browsers are behind a button: each shown browser causes two requests, for its newest and its first events. */
const fewBrowsers = 8;

const Browser = ({ link, reload }: { readonly link: Link; readonly reload: () => void }) => {
  const { userUUID, verified } = link;
  const [isUnlinking, setUnlinking] = useState(false);
  const summary = useBrowserSummary(userUUID);
  const name = summary?.name || nameOfUser(userUUID);
  return (
    <li>
      <BrowserMark userUUID={userUUID} />
      <span>
        <strong>{name}</strong>
        <small class="soft">
          <BrowserSummaryLine summary={summary} />
        </small>
        <small class="soft">
          <CopyableText text={userUUID} label={nameOfUser(userUUID)} /> <Basis verified={verified} />
        </small>
      </span>
      {canEdit.value && (
        <button
          type="button"
          class="quiet"
          aria-label={`Unlink ${name}`}
          title="From now on, or retroactively"
          onClick={() => setUnlinking(true)}
        >
          Unlink…
        </button>
      )}
      {isUnlinking && <UnlinkDialog link={link} name={name} refresh={reload} close={() => setUnlinking(false)} />}
    </li>
  );
};

export const Browsers = ({ links, reload }: BrowsersProps) => {
  const browsers = browsersOf(links);
  const [isWhole, setWhole] = useState(false);
  return (
    <Card title={`Browsers${browsers.length > 0 ? ` · ${browsers.length}` : ''}`}>
      {browsers.length === 0 && <EmptyState title="No linked browsers" />}
      <ul class="browsers">
        {(isWhole ? browsers : browsers.slice(0, fewBrowsers)).map((link) => (
          <Browser key={link.userUUID} link={link} reload={reload} />
        ))}
      </ul>
      {!isWhole && browsers.length > fewBrowsers && (
        <button type="button" class="more" onClick={() => setWhole(true)}>
          Show {formatWhole(browsers.length - fewBrowsers)} more
        </button>
      )}
    </Card>
  );
};
