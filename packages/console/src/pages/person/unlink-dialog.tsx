/** The dialog that unlinks a browser from a person, from now on or retroactively. */
import { useState } from 'preact/hooks';
import { api } from '../../api.ts';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { act } from '../../parts/notices.tsx';
import type { Link } from './history.ts';

/** Voids or restores a link. */
export const setIgnored = ({ linkID }: Pick<Link, 'linkID'>, isIgnored: boolean, refresh: () => unknown) => {
  const set = (restore: boolean) => api.voidLink({ linkID, restore });
  return act(
    () => set(!isIgnored),
    // Another user has already changed it: don't offer to undo their change.
    ({ links }) =>
      links === 0
        ? { done: isIgnored ? 'This link was already ignored.' : 'This link already counts.', refresh }
        : {
            done: isIgnored
              ? 'Link ignored. This browser’s events went back to their previous owner.'
              : 'The link counts again.',
            undo: () => set(isIgnored),
            refresh,
          },
  );
};

const unlink = ({ userUUID }: Link, refresh: () => unknown) =>
  act(
    () => api.unlinkUser({ userUUID }),
    ({ linkID }) =>
      linkID === ''
        ? { done: 'This browser was already unlinked.', refresh }
        : {
            done: 'Browser unlinked. New events will be anonymous; earlier events stay here.',
            undo: () => api.voidLink({ linkID }),
            refresh,
          },
  );

const unlinkOptions = {
  later: ['From now on', 'New events will be anonymous. Earlier events stay here.'],
  never: ['It was never theirs', 'Past events return to their previous owner.'],
} as const;

interface UnlinkDialogProps {
  readonly link: Link;
  /** The browser's name. */
  readonly name: string;
  readonly refresh: () => unknown;
  readonly close: () => void;
}

export const UnlinkDialog = ({ link, name, refresh, close }: UnlinkDialogProps) => {
  const [chosen, setChosen] = useState<keyof typeof unlinkOptions>('later');
  const submit = () => {
    close();
    return chosen === 'later' ? unlink(link, refresh) : setIgnored(link, true, refresh);
  };
  return (
    <DialogForm title={`Unlink ${name}?`} close={close} action="Unlink" submit={submit}>
      <fieldset class="kinds">
        <legend>From when</legend>
        {Object.entries(unlinkOptions).map(([way, [title, description]]) => (
          <label key={way} class="choice-line">
            <input
              type="radio"
              name="way"
              checked={chosen === way}
              onChange={() => setChosen(way as keyof typeof unlinkOptions)}
            />
            <span>
              {title}
              <small class="soft">{description}</small>
            </span>
          </label>
        ))}
      </fieldset>
      <p class="soft">
        You can undo this now. Later, re-link the browser from its own page, or choose “Count it again” in the history.
      </p>
    </DialogForm>
  );
};
