/** The overview: how many people came, when, from where, with which devices, and what they did. */
import { useState } from 'preact/hooks';
import { hrefOf } from '../address.ts';
import { api } from '../api.ts';
import { Filters } from '../parts/filters.tsx';
import { RangePicker } from '../parts/range-picker.tsx';
import { RefusedHint } from '../parts/refused-hint.tsx';
import { SegmentChoice } from '../parts/segments.tsx';
import { ViewsMenu } from '../parts/views/views-menu.tsx';
import { account, readAccount } from '../reading/account.ts';
import { formatWhole } from '../reading/format.ts';
import { useFetch } from '../reading/use-fetch.ts';
import { MailDialog } from './mail-dialog.tsx';
import { Groups } from './overview/groups.tsx';
import { Measures } from './overview/measures.tsx';
import { NoEventsYet } from './overview/no-events-yet.tsx';

const everyMs = 15_000;

const readOnline = async (signal: AbortSignal) => {
  // Wait until the cards below, which start in the same task, have sent their requests.
  await new Promise((resolve) => setTimeout(resolve));
  return api.reportLive({ limit: 1 }, { signal });
};

/** The number of people in the last five minutes. */
const Online = () => {
  const { value } = useFetch('online', readOnline, { everyMs });
  return (
    <a class="online" href={hrefOf('live')}>
      <span class="online-dot" aria-hidden="true" />
      {value ? `${formatWhole(value.people)} online` : 'Live'}
    </a>
  );
};

export const OverviewReports = () => (
  <>
    <Measures />
    <div class="groups">
      <Groups />
    </div>
  </>
);

export const Overview = () => {
  const [hasArrived, setArrived] = useState(false);
  if (account.value?.usage.events === 0 && !hasArrived)
    return (
      <>
        <header class="page-head">
          <h1>Overview</h1>
        </header>
        <NoEventsYet
          onFirstEvent={() => {
            setArrived(true);
            // Reload the account, which contains the new events' names.
            readAccount().catch(() => {});
          }}
        />
      </>
    );
  return (
    <>
      <header class="page-head">
        <h1>Overview</h1>
        <Online />
        <ViewsMenu MailDialog={MailDialog} />
        <SegmentChoice />
        <RangePicker />
      </header>
      <Filters />
      <RefusedHint />
      <OverviewReports />
    </>
  );
};
