/** The overview: how many came, when, from where, with what, and what they did. */
import { hrefOf } from '../address.ts';
import { api } from '../api.ts';
import { Filters } from '../parts/filters.tsx';
import { RangePicker } from '../parts/range-picker.tsx';
import { OpenSampleShop } from '../parts/sample-shop.tsx';
import { account } from '../reading/account.ts';
import { useAnswer } from '../reading/answer.ts';
import { formatWhole } from '../reading/format.ts';
import { Groups } from './overview/groups.tsx';
import { Measures } from './overview/measures.tsx';

const everyMs = 15_000;

/** People of the last five minutes. */
const Online = () => {
  const { value } = useAnswer('online', (signal) => api.reportLive({ limit: 1 }, { signal }), { everyMs });
  return (
    <a class="online" href={hrefOf('live')}>
      <span class="online-dot" aria-hidden="true" />
      {value ? `${formatWhole(value.people)} online` : 'Live'}
    </a>
  );
};

export const Overview = () => {
  const isNew = account.value?.usage.events === 0;
  return (
    <>
      <header class="page-head">
        <h1>Overview</h1>
        <Online />
        <RangePicker />
      </header>
      <Filters />
      {isNew && (
        <div class="hint hint-line">
          <p>
            No event has arrived yet. <a href={hrefOf('set-up')}>Set up the script tag</a>, and this page fills by
            itself.
          </p>
          <OpenSampleShop />
        </div>
      )}
      <Measures />
      <div class="groups">
        <Groups />
      </div>
    </>
  );
};
