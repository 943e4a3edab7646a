/** Refused requests by their causes, with what can be done about each. */
import { useState } from 'preact/hooks';
import { api, messageOf } from '../../../api.ts';
import { Answered, Card } from '../../../parts/card.tsx';
import { show } from '../../../parts/notices.tsx';
import { SaveCSV } from '../../../parts/save-csv.tsx';
import { At, Badge, Empty } from '../../../parts/small.tsx';
import { account, isOwner } from '../../../reading/account.ts';
import { forgetAnswers, useAnswer } from '../../../reading/answer.ts';
import { formatWhole } from '../../../reading/format.ts';
import { RefusedPages } from '../../set-up/refused-pages.tsx';
import { OwnersOnly } from '../owners-only.tsx';
import { nameOfActor } from '../token-list.ts';
import { type Cause, toCauses } from './causes.ts';
import { FixDialog } from './fix-dialog.tsx';
import { type RefusedPage, type RefusedRequest, textOf } from './request.ts';
import { allowAll, allowanceFor, discardAll, sendAll } from './sending.ts';

/** What became of all that was refused, in words. */
const sumOf = ({ evicted, erased, replayed }: RefusedPage['count']): string =>
  [
    replayed > 0 && `${formatWhole(replayed)} ${replayed === 1 ? 'was' : 'were'} fixed and stored`,
    evicted > 0 && `${formatWhole(evicted)} discarded or replaced by later ones`,
    erased > 0 && `${formatWhole(erased)} removed with a contact`,
  ]
    .filter(Boolean)
    .join(', ');

interface CauseProps {
  readonly cause: Cause;
  readonly again: () => void;
}

const CauseEntry = ({ cause, again }: CauseProps) => {
  const { what, why, sent, newest, requests } = cause;
  const [isFixing, setFixing] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const all = requests.length > 1 ? ' all' : '';
  const showResult = ({ done, problem }: Awaited<ReturnType<typeof sendAll>>, verb: string) => {
    const rest = problem && ` Others failed: ${problem}`;
    show({ text: `${formatWhole(done)} ${verb}.${rest}`, isProblem: done === 0 });
    again();
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
      <div class="refused-head">
        <strong>
          {what}: {why}
        </strong>
        {sent && <span>sent: “{sent}”</span>}
        {requests.every(({ robot }) => robot) && <Badge>robot</Badge>}
        <span class="soft">
          {[...senders].join(', ')} · <At time={newest} form="long" />
        </span>
      </div>
      <details>
        <summary>{requests.length === 1 ? 'The request' : 'The newest request'}</summary>
        <p class="soft">{requests[0]?.problem.message}</p>
        <pre>
          <code>{requests[0] && textOf(requests[0])}</code>
        </pre>
      </details>
      <p class="refused-actions">
        {requests.every(allowanceFor) && (
          <button type="button" disabled={isBusy} onClick={() => run(allowAll, 'allowed and stored')}>
            Allow
          </button>
        )}
        <button type="button" disabled={isBusy} onClick={() => setFixing(true)}>
          Fix and send{all} …
        </button>
        <button type="button" class="quiet" disabled={isBusy} onClick={() => run((some) => sendAll(some), 'stored')}>
          Send{all} again
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

/** Requests of an unlisted site, or with a secret token in a page, are not stored. */
const Pages = () => {
  const { value } = useAnswer('service', (signal) => api.getService({}, { signal }));
  return value && <RefusedPages {...value} />;
};

/** The server cannot know whose account a wrong token should have named. */
const WrongTokens = () => (
  <p class="soft">
    A wrong token is not listed here: the browser’s console shows{' '}
    <a href="../docs/troubleshooting">firsthand: invalid_token</a>.
  </p>
);

/** Lists are bounded for each token. This many are grouped; what follows comes when these are done with. */
const maxRead = 1_000;

/** Reads the list to its end: its oldest are first, and causes concern all of it. */
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
  const answer = useAnswer('refused', readAll);
  const count = answer.value?.count;
  const again = () => {
    forgetAnswers();
    answer.again();
  };
  return (
    <>
      <Pages />
      <Card
        title={`Refused requests${count ? ` · ${formatWhole(count.listed)}` : ''}`}
        class="list"
        tools={<SaveCSV title="Refused requests" operation="listRefused" request={{}} count={count?.listed} />}
      >
        {count && sumOf(count) && <p class="soft">{sumOf(count)}.</p>}
        <Answered answer={answer} lines={8}>
          {({ all }) =>
            all.length === 0 ? (
              <Empty title="Nothing is waiting for a fix">
                <p class="soft">Rejected requests are kept here so you can fix and resend them.</p>
              </Empty>
            ) : (
              <ul class="refused">
                {toCauses(all).map((cause) => (
                  <CauseEntry key={cause.key} cause={cause} again={again} />
                ))}
              </ul>
            )
          }
        </Answered>
        <WrongTokens />
      </Card>
    </>
  );
};

export const Refused = () =>
  isOwner.value ? <List /> : <OwnersOnly title="Refused requests" what="what was refused" />;
