/** A mark in the timeline for a link: the moment of recognition, a switch, an unlink. Each can be voided. */
import { hrefOf } from '../../address.ts';
import { api } from '../../api.ts';
import { act } from '../../parts/notices.tsx';
import { At, Badge } from '../../parts/small.tsx';
import { mayChange } from '../../reading/account.ts';
import { nameOfUser } from '../../reading/person.ts';
import type { Turn } from './history.ts';

const wordsOf = ({ link, isRecognition, isLoss }: Turn): string => {
  if (link.contactUUID === '') return 'This browser was unlinked: it is anonymous from here on';
  if (isLoss) return 'This browser went to somebody else';
  if (isRecognition) return 'Recognized: the anonymous history of this browser became theirs';
  return 'This browser was linked again';
};

export const TurnMark = ({ turn, after }: { readonly turn: Turn; readonly after: () => unknown }) => {
  const { link, isRecognition, isLoss } = turn;
  const { linkID, userUUID, linkTime, verified, voided, contactUUID } = link;
  const set = (restore: boolean) => api.voidLink({ linkID, restore });
  const change = () =>
    act(() => set(voided), {
      done: voided
        ? 'The link counts again.'
        : 'The link is ignored now: the browser’s events are with whom they were before.',
      undo: () => set(!voided),
      after,
    });
  return (
    <li class={`turn${isRecognition ? ' turn-recognition' : ''}${voided ? ' turn-voided' : ''}`}>
      <div>
        <p>
          <At time={linkTime} /> <strong>{wordsOf(turn)}</strong>
        </p>
        <p class="soft">
          {nameOfUser(userUUID)} ·{' '}
          {verified ? <Badge tone="good">verified</Badge> : <Badge tone="open">claimed in the browser</Badge>}
          {voided && <Badge tone="bad">ignored</Badge>}
          {isLoss && contactUUID && <a href={hrefOf('person', { contact: contactUUID })}>Who has it</a>}
        </p>
      </div>
      {mayChange.value && (
        <button type="button" onClick={change}>
          {voided ? 'Count it again' : 'Ignore this link'}
        </button>
      )}
    </li>
  );
};
