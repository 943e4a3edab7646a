/** The browsers that are a person's now. */
import { api } from '../../api.ts';
import { Card } from '../../parts/card.tsx';
import { act } from '../../parts/notices.tsx';
import { Ago, Badge, Copyable, Empty } from '../../parts/small.tsx';
import { mayChange } from '../../reading/account.ts';
import { nameOfUser } from '../../reading/person.ts';
import { browsersOf, type Link } from './history.ts';

interface BrowsersProps {
  readonly links: readonly Link[];
  readonly again: () => void;
}

export const Browsers = ({ links, again }: BrowsersProps) => {
  const browsers = browsersOf(links);
  const unlink = (userUUID: string) =>
    act(
      () => api.unlinkUser({ userUUID }),
      ({ linkID }) =>
        linkID === ''
          ? { done: 'The browser was nobody’s already.', after: again }
          : {
              done: 'The browser is anonymous from now on. What it did before stays.',
              undo: () => api.voidLink({ linkID }),
              after: again,
            },
    );
  return (
    <Card title={`Browsers${browsers.length > 0 ? ` · ${browsers.length}` : ''}`}>
      {browsers.length === 0 && <Empty title="None" />}
      {browsers.length > 0 && mayChange.value && (
        <p class="soft">
          Unlinked, a browser is anonymous from then on, and what it did before stays here. If it never was this
          person’s, ignore its link in the history.
        </p>
      )}
      <ul class="browsers">
        {browsers.map(({ userUUID, linkTime, verified }) => (
          <li key={userUUID}>
            <span>
              <Copyable text={userUUID} label={nameOfUser(userUUID)} />
              <small class="soft">
                since <Ago time={linkTime} /> ·{' '}
                {verified ? <Badge tone="good">verified</Badge> : <Badge tone="open">claimed</Badge>}
              </small>
            </span>
            {mayChange.value && (
              <button type="button" class="quiet" onClick={() => unlink(userUUID)}>
                Unlink
              </button>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
};
