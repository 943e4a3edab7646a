/** Refused requests by cause, with buttons to fix, resend or discard them. */
import { useState } from 'preact/hooks';
import { api, messageOf } from '../../../api.ts';
import { Card, ResponseView } from '../../../parts/card.tsx';
import { show } from '../../../parts/notices.tsx';
import { SaveCSV } from '../../../parts/save-csv.tsx';
import { Badge, EmptyState, Time } from '../../../parts/small.tsx';
import { account, isOwner } from '../../../reading/account.ts';
import { formatWhole } from '../../../reading/format.ts';
import { clearFetchCache, useFetch } from '../../../reading/use-fetch.ts';
import { RefusedPages } from '../../set-up/refused-pages.tsx';
import { OwnersOnly } from '../owners-only.tsx';
import { nameOfActor } from '../token-list.ts';
import { type Cause, toCauses } from './causes.ts';
import { FixDialog } from './fix-dialog.tsx';
import { type RefusedPage, type RefusedRequest, textOf } from './request.ts';
import { allowAll, allowanceFor, discardAll, sendAll } from './resend.ts';

/** Describes the outcome of refused requests that are no longer listed. */
const describeCounts = ({ evicted, erased, replayed }: RefusedPage['count']): string =>
  [
    replayed > 0 && `${formatWhole(replayed)} fixed and stored`,
    evicted > 0 && `${formatWhole(evicted)} discarded or replaced by newer requests`,
    erased > 0 && `${formatWhole(erased)} erased with a contact`,
  ]
    .filter(Boolean)
    .join(', ');

interface CauseProps {
  readonly cause: Cause;
  readonly reload: () => void;
}

const CauseEntry = ({ cause, reload }: CauseProps) => {
  const { summary, why, sent, newest, requests } = cause;
  const [isFixing, setFixing] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const all = requests.length > 1 ? ' all' : '';
  const showResult = ({ done, problem }: Awaited<ReturnType<typeof sendAll>>, verb: string) => {
    const rest = problem && ` Others failed: ${problem}`;
    show({ text: `${formatWhole(done)} ${verb}.${rest}`, isProblem: done === 0 });
    reload();
  };
  const run = async (work: (refused: typeof requests) => ReturnType<typeof sendAll>, verb: string) => {
    setBusy(true);
    try {
      showResult(await work(requests), verb);
    } catch (error) {
      show({ text: messageOf(error), isProblem: true });
    }
    setBusy(false);
  };
  const senders = new Set(requests.map(({ tokenID }) => nameOfActor(tokenID, account.value?.token ?? [])));
  return (
    <li>
      <div class="item-head">
        <strong>
          {summary}: {why}
        </strong>
        {sent && <span>sent: “{sent}”</span>}
        {requests.every(({ robot }) => robot) && <Badge>bot</Badge>}
        <span class="soft">
          {[...senders].join(', ')} · <Time time={newest} form="long" />
        </span>
      </div>
      <details>
        <summary>{requests.length === 1 ? 'Request' : 'Latest request'}</summary>
        <p class="soft">{requests[0]?.problem.message}</p>
        <pre>
          <code>{requests[0] && textOf(requests[0])}</code>
        </pre>
      </details>
      <p class="item-actions">
        {requests.every(allowanceFor) && (
          <button type="button" disabled={isBusy} onClick={() => run(allowAll, 'allowed and stored')}>
            Allow
          </button>
        )}
        <button type="button" disabled={isBusy} onClick={() => setFixing(true)}>
          Fix and send{all}…
        </button>
        <button type="button" class="quiet" disabled={isBusy} onClick={() => run((some) => sendAll(some), 'stored')}>
          Resend{all}
        </button>
        <button type="button" class="quiet" disabled={isBusy} onClick={() => run(discardAll, 'discarded')}>
          Discard{all}
        </button>
      </p>
      {isFixing && (
        <FixDialog cause={cause} done={(outcome) => showResult(outcome, 'stored')} close={() => setFixing(false)} />
      )}
    </li>
  );
};

/** Warnings about pages on unlisted sites and pages with a secret token: the requests themselves are not stored. */
const Pages = () => {
  const { value } = useFetch('service', (signal) => api.getService({}, { signal }));
  return value && <RefusedPages {...value} />;
};

/** The server can't know which account a request with an invalid token was meant for. */
const WrongTokens = () => (
  <p class="soft">
    Requests with a wrong token are not listed here. Check the browser’s console for{' '}
    <a href="../docs/troubleshooting">firsthand: invalid_token</a>.
  </p>
);

/** The maximum number of requests to group. The rest appear as these are resolved. */
const maxRead = 1_000;

/** Reads all pages: the list starts with the oldest request, and a cause can group requests from any page. */
const readAll = async (signal: AbortSignal) => {
  const all: RefusedRequest[] = [];
  for (let cursor: string | undefined; ; ) {
    const { refused, nextCursor, count }: RefusedPage = await api.listRefused({ cursor }, { signal });
    all.push(...refused);
    if (nextCursor === '' || all.length >= maxRead) return { all, count };
    cursor = nextCursor;
  }
};

const List = () => {
  const response = useFetch('refused', readAll);
  const count = response.value?.count;
  const reload = () => {
    clearFetchCache();
    response.reload();
  };
  return (
    <>
      <Pages />
      <Card
        title={`Refused requests${count ? ` · ${formatWhole(count.listed)}` : ''}`}
        class="list"
        tools={<SaveCSV title="Refused requests" operation="listRefused" request={{}} count={count?.listed} />}
      >
        {count && describeCounts(count) && <p class="soft">{describeCounts(count)}.</p>}
        <ResponseView response={response} lines={8}>
          {({ all }) =>
            all.length === 0 ? (
              <EmptyState title="No refused requests">
                <p class="soft">Refused requests are kept here so you can fix and resend them.</p>
              </EmptyState>
            ) : (
              <ul class="items">
                {toCauses(all).map((cause) => (
                  <CauseEntry key={cause.key} cause={cause} reload={reload} />
                ))}
              </ul>
            )
          }
        </ResponseView>
        <WrongTokens />
      </Card>
    </>
  );
};

export const RefusedRequests = () =>
  isOwner.value ? <List /> : <OwnersOnly title="Refused requests" subject="refused requests" />;
