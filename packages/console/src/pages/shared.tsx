/** The page of a share link: one view of reports, for somebody without an account. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { showHere } from '../address.ts';
import { messageOf } from '../api.ts';
import { Mark } from '../parts/mark.tsx';
import { comparisonInWords, rangeInWords } from '../parts/range-words.ts';
import { At, Problem, Skeleton } from '../parts/small.tsx';
import { type Account, account } from '../reading/account.ts';
import { followDays } from '../reading/range.ts';
import { isEnded, readSharedView, type SharedView, sharedView } from '../reading/shared.ts';
import { OverviewReports } from './overview.tsx';

const contents: Readonly<Record<SharedView['viewPage'], () => Promise<ComponentType>>> = {
  overview: async () => OverviewReports,
  events: () => import('./people-and-events.ts').then(({ EventReports }) => EventReports),
};

const open = async (): Promise<ComponentType> => {
  const view = await readSharedView();
  const Content = await contents[view.viewPage]();
  sharedView.value = view;
  // All that the parts of a page read of the account.
  const { timezone: accountTimezone, currency: accountCurrency, event, attr } = view;
  account.value = {
    accountTimezone,
    accountCurrency,
    event,
    attr,
    tag: [],
    profile: [],
    accountOrigin: [],
  } as unknown as Account;
  showHere(view.viewPage === 'overview' ? '' : view.viewPage, view.viewQuery);
  document.title = `${view.shareName} · Firsthand`;
  followDays();
  return Content;
};

const Ended = () => (
  <main class="sign-in">
    <div class="notice-page">
      <Mark />
      <h1>This link is no longer valid</h1>
      <p>Ask the person who sent it to you for another one.</p>
    </div>
  </main>
);

export const Shared = () => {
  const [Content, setContent] = useState<ComponentType | undefined>(undefined);
  const [problem, setProblem] = useState('');
  useEffect(() => {
    open().then(
      (found) => setContent(() => found),
      (error) => setProblem(messageOf(error)),
    );
  }, []);
  if (isEnded.value) return <Ended />;
  const view = sharedView.value;
  if (problem)
    return (
      <main class="sign-in">
        <Problem text={problem} again={() => location.reload()} />
      </main>
    );
  return (
    <main class="shared" aria-busy={!Content}>
      <header class="page-head">
        <Mark size={26} />
        <h1>{view?.shareName ?? 'Firsthand'}</h1>
        {view && (
          <p class="soft shared-range">
            {rangeInWords()}
            {comparisonInWords()}
          </p>
        )}
      </header>
      {Content ? <Content /> : <Skeleton lines={8} />}
      {view && (
        <p class="soft shared-foot">
          Read only, until <At time={view.expiresTime} form="long" />. Made with Firsthand.
        </p>
      )}
    </main>
  );
};
