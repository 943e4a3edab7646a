/** The browsers that are a person's now: which each is, and when it was seen. */
import { useState } from 'preact/hooks';
import { Card } from '../../parts/card.tsx';
import { Copyable, Empty } from '../../parts/small.tsx';
import { mayChange } from '../../reading/account.ts';
import { formatWhole } from '../../reading/format.ts';
import { nameOfUser } from '../../reading/person.ts';
import { Basis } from './basis.tsx';
import { BrowserMark } from './browser-mark.tsx';
import { browsersOf, type Link } from './history.ts';
import { SeenLine, useSeen } from './seen.tsx';
import { Unlinking } from './unlinking.tsx';

interface BrowsersProps {
  readonly links: readonly Link[];
  readonly again: () => void;
}

/** More are shown when they are asked for: each asks for its newest and its first event. */
const fewBrowsers = 8;

const Browser = ({ link, again }: { readonly link: Link; readonly again: () => void }) => {
  const { userUUID, verified } = link;
  const [isUnlinking, setUnlinking] = useState(false);
  const seen = useSeen(userUUID);
  const name = seen?.name || nameOfUser(userUUID);
  return (
    <li>
      <BrowserMark userUUID={userUUID} />
      <span>
        <strong>{name}</strong>
        <small class="soft">
          <SeenLine seen={seen} />
        </small>
        <small class="soft">
          <Copyable text={userUUID} label={nameOfUser(userUUID)} /> <Basis verified={verified} />
        </small>
      </span>
      {mayChange.value && (
        <button
          type="button"
          class="quiet"
          aria-label={`Unlink ${name}`}
          title="From now on, or from the start"
          onClick={() => setUnlinking(true)}
        >
          Unlink …
        </button>
      )}
      {isUnlinking && <Unlinking link={link} name={name} after={again} close={() => setUnlinking(false)} />}
    </li>
  );
};

export const Browsers = ({ links, again }: BrowsersProps) => {
  const browsers = browsersOf(links);
  const [isWhole, setWhole] = useState(false);
  return (
    <Card title={`Browsers${browsers.length > 0 ? ` · ${browsers.length}` : ''}`}>
      {browsers.length === 0 && <Empty title="None" />}
      <ul class="browsers">
        {(isWhole ? browsers : browsers.slice(0, fewBrowsers)).map((link) => (
          <Browser key={link.userUUID} link={link} again={again} />
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
