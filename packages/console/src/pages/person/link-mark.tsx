/** The timeline entry for a link: the one that identified the visitor, or a later one. Each can be ignored. */
import { hrefOf } from '../../address.ts';
import { Badge, Time } from '../../parts/small.tsx';
import { canEdit } from '../../reading/account.ts';
import { nameOfUser } from '../../reading/person.ts';
import { Basis } from './basis.tsx';
import { BrowserMark } from './browser-mark.tsx';
import { useBrowserSummary } from './browser-summary.tsx';
import type { LinkEntry } from './history.ts';
import { setIgnored } from './unlink-dialog.tsx';

interface LinkMarkProps {
  readonly entry: LinkEntry;
  /** Whether the browser's anonymous events became the person's. */
  readonly hasHistory: boolean;
  readonly refresh: () => unknown;
}

const wordsOf = ({ entry: { isRecognition, isFormer, link }, hasHistory }: LinkMarkProps): string => {
  if (link.voided) return 'This link is ignored';
  if (!isRecognition) return 'This browser was linked again';
  const text = `Recognized: this browser${hasHistory ? '’s anonymous history' : ''}`;
  return isFormer ? `${text} was linked to this person` : `${text} now belongs to this person`;
};

/** The name of a browser that is no longer in the person's browser list. */
const Device = ({ userUUID }: { readonly userUUID: string }) => {
  const name = useBrowserSummary(userUUID)?.name;
  return name ? <>{name} · </> : null;
};

export const LinkMark = (props: LinkMarkProps) => {
  const { entry, refresh } = props;
  const { link, isRecognition } = entry;
  const { userUUID, linkTime, verified, voided } = link;
  return (
    <li class={`turn${isRecognition ? ' turn-recognition' : ''}${voided ? ' turn-voided' : ''}`}>
      <div>
        <p>
          <Time time={linkTime} /> <strong>{wordsOf(props)}</strong>
        </p>
        <p class="soft">
          <BrowserMark userUUID={userUUID} /> {voided && <Device userUUID={userUUID} />}
          <a href={hrefOf('person', { user: userUUID, contact: null })}>{nameOfUser(userUUID)}</a> ·{' '}
          {voided ? <Badge tone="bad">ignored</Badge> : <Basis verified={verified} />}
          {entry.isFormer && ' · This browser no longer belongs to this person'}
        </p>
      </div>
      {canEdit.value && (
        <button
          type="button"
          title={voided ? undefined : 'Past events return to their previous owner'}
          onClick={() => setIgnored(link, !voided, refresh)}
        >
          {voided ? 'Count it again' : 'Ignore this link'}
        </button>
      )}
    </li>
  );
};
