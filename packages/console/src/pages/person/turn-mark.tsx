/** A mark in the timeline for a link: the moment of recognition, or a further link. Each can be voided. */
import { hrefOf } from '../../address.ts';
import { At, Badge } from '../../parts/small.tsx';
import { mayChange } from '../../reading/account.ts';
import { nameOfUser } from '../../reading/person.ts';
import { Basis } from './basis.tsx';
import { BrowserMark } from './browser-mark.tsx';
import type { Turn } from './history.ts';
import { useSeen } from './seen.tsx';
import { setIgnored } from './unlinking.tsx';

interface TurnMarkProps {
  readonly turn: Turn;
  /** Whether anonymous events of the browser became the person's. */
  readonly hasHistory: boolean;
  readonly after: () => unknown;
}

const wordsOf = ({ turn: { isRecognition, isFormer, link }, hasHistory }: TurnMarkProps): string => {
  if (link.voided) return 'This link does not count';
  if (!isRecognition) return 'This browser was linked again';
  const what = `Recognized: this browser${hasHistory ? '’s anonymous history' : ''}`;
  return isFormer ? `${what} belonged to this person from this moment` : `${what} now belongs to this person`;
};

/** Which browser it is, where no list says so any more. */
const Device = ({ userUUID }: { readonly userUUID: string }) => {
  const name = useSeen(userUUID)?.name;
  return name ? <>{name} · </> : null;
};

export const TurnMark = (props: TurnMarkProps) => {
  const { turn, after } = props;
  const { link, isRecognition } = turn;
  const { userUUID, linkTime, verified, voided } = link;
  return (
    <li class={`turn${isRecognition ? ' turn-recognition' : ''}${voided ? ' turn-voided' : ''}`}>
      <div>
        <p>
          <At time={linkTime} /> <strong>{wordsOf(props)}</strong>
        </p>
        <p class="soft">
          <BrowserMark userUUID={userUUID} /> {voided && <Device userUUID={userUUID} />}
          <a href={hrefOf('person', { user: userUUID, contact: null })}>{nameOfUser(userUUID)}</a> ·{' '}
          {voided ? <Badge tone="bad">ignored</Badge> : <Basis verified={verified} />}
          {turn.isFormer && ' · This browser no longer belongs to this person'}
        </p>
      </div>
      {mayChange.value && (
        <button
          type="button"
          title={voided ? undefined : 'Past events go back to their previous owner'}
          onClick={() => setIgnored(link, !voided, after)}
        >
          {voided ? 'Count it again' : 'Ignore this link'}
        </button>
      )}
    </li>
  );
};
