/** A share link's page: one view of reports, for people without an account. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { showSharedPage } from '../address.ts';
import { messageOf } from '../api.ts';
import { Logo } from '../parts/logo.tsx';
import { describeComparison, describeRange } from '../parts/range-words.ts';
import { Problem, Skeleton, Time } from '../parts/small.tsx';
import { type Account, account } from '../reading/account.ts';
import { followDays } from '../reading/range.ts';
import { isLinkInvalid, readSharedView, type SharedView, sharedView } from '../reading/shared.ts';
import { OverviewReports } from './overview.tsx';

const contents: Readonly<Record<SharedView['viewPage'], () => Promise<ComponentType>>> = {
  overview: async () => OverviewReports,
  events: () => import('./people-and-events.ts').then(({ EventReports }) => EventReports),
};

const open = async (): Promise<ComponentType> => {
  const view = await readSharedView();
  const Content = await contents[view.viewPage]();
  sharedView.value = view;
  // The account fields that the reports need.
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
  showSharedPage(view.viewPage === 'overview' ? '' : view.viewPage, view.viewQuery);
  document.title = `${view.shareName} · Firsthand`;
  followDays();
  return Content;
};

const InvalidLink = () => (
  <main class="sign-in">
    <div class="notice-page">
      <Logo />
      <h1>This link is no longer valid</h1>
      <p>Ask the person who sent it for a new one.</p>
    </div>
  </main>
);

export const SharedPage = () => {
  const [Content, setContent] = useState<ComponentType | undefined>(undefined);
  const [problem, setProblem] = useState('');
  useEffect(() => {
    open().then(
      (loaded) => setContent(() => loaded),
      (error) => setProblem(messageOf(error)),
    );
  }, []);
  if (isLinkInvalid.value) return <InvalidLink />;
  const view = sharedView.value;
  if (problem)
    return (
      <main class="sign-in">
        <Problem text={problem} reload={() => location.reload()} />
      </main>
    );
  return (
    <main class="shared" aria-busy={!Content}>
      <header class="page-head">
        <Logo size={26} />
        <h1>{view?.shareName ?? 'Firsthand'}</h1>
        {view && (
          <p class="soft shared-range">
            {describeRange()}
            {describeComparison()}
          </p>
        )}
      </header>
      {Content ? <Content /> : <Skeleton lines={8} />}
      {view && (
        <p class="soft shared-foot">
          Read-only link, valid until <Time time={view.expiresTime} form="long" />. Made with Firsthand.
        </p>
      )}
    </main>
  );
};
