/** Refused requests: what was refused, why, and the way to send it again. */
import { useState } from 'preact/hooks';
import { api } from '../../../api.ts';
import { Answered, Card } from '../../../parts/card.tsx';
import { At, Badge, Empty } from '../../../parts/small.tsx';
import { account, isOwner } from '../../../reading/account.ts';
import { useAnswer } from '../../../reading/answer.ts';
import { formatWhole } from '../../../reading/format.ts';
import { usePages } from '../../../reading/pages.ts';
import { RefusedOrigin } from '../../set-up/refused-origin.tsx';
import { OwnersOnly } from '../owners-only.tsx';
import { nameOfActor } from '../token-list.ts';
import { type RefusedPage, type RefusedRequest, textOf } from './request.ts';
import { SendAgain } from './sending-again.tsx';

/** What became of all that was refused, in words. */
const sumOf = ({ evicted, erased, replayed }: RefusedPage['count']): string =>
  [
    replayed > 0 && `${formatWhole(replayed)} carried out after a fix`,
    evicted > 0 && `${formatWhole(evicted)} gave way to later ones`,
    erased > 0 && `${formatWhole(erased)} removed with a contact`,
  ]
    .filter(Boolean)
    .join(', ');

const Entry = ({ refused, again }: { readonly refused: RefusedRequest; readonly again: () => void }) => {
  const { refusedTime, operation, problem, tokenID, robot } = refused;
  return (
    <li>
      <div class="refused-head">
        <strong>{operation}</strong>
        <Badge tone="bad">{problem.code}</Badge>
        {robot && <Badge>robot</Badge>}
        <span class="soft">
          {nameOfActor(tokenID, account.value?.token ?? [])} · <At time={refusedTime} form="long" />
        </span>
      </div>
      <p>{problem.message}</p>
      <details>
        <summary>The request</summary>
        <pre>
          <code>{textOf(refused)}</code>
        </pre>
      </details>
      <SendAgain refused={refused} again={again} />
    </li>
  );
};

/** Of a site that is not listed nothing is kept: it is told, and can be allowed. */
const Origin = () => {
  const { value } = useAnswer('service', (signal) => api.getService({}, { signal }));
  return value?.refusedOrigin ? <RefusedOrigin refused={value.refusedOrigin} /> : null;
};

const List = () => {
  const [round, setRound] = useState(0);
  const [count, setCount] = useState<RefusedPage['count'] | undefined>(undefined);
  const { answer, more } = usePages(`refused ${round}`, async (cursor, signal) => {
    const { refused, nextCursor, count } = await api.listRefused({ cursor }, { signal });
    setCount(count);
    return { entries: refused, nextCursor };
  });
  const again = () => setRound(round + 1);
  return (
    <>
      <Origin />
      <Card title={`Refused requests${count ? ` · ${formatWhole(count.listed)}` : ''}`} class="list">
        {count && sumOf(count) && <p class="soft">Besides: {sumOf(count)}.</p>}
        <Answered answer={answer} lines={8}>
          {(entries) =>
            entries.length === 0 ? (
              <Empty title="Nothing is waiting for a fix">
                <p class="soft">Rejected requests are kept here so you can fix and resend them.</p>
              </Empty>
            ) : (
              <ul class="refused">
                {entries.map((refused) => (
                  <Entry key={refused.refusedID} refused={refused} again={again} />
                ))}
              </ul>
            )
          }
        </Answered>
        {more && (
          <button type="button" class="more" onClick={more}>
            Show more
          </button>
        )}
      </Card>
    </>
  );
};

export const Refused = () =>
  isOwner.value ? <List /> : <OwnersOnly title="Refused requests" what="what was refused" />;
