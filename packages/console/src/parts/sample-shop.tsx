/** Sample data to look around in: the way in, and the way out. */
import { useState } from 'preact/hooks';
import { isOwner } from '../reading/account.ts';
import {
  hasClosedSampleShop,
  isSampleShop,
  offersSampleShop,
  openSampleShop,
  removeSampleShop,
  sampleShopProgress,
} from '../session.ts';
import { DialogForm } from './dialog-form.tsx';
import { act, show } from './notices.tsx';

const progressMs = 500;

/** A button that opens the sample shop, and fills it before; nothing where the server offers none. */
export const OpenSampleShop = () => {
  const [isBusy, setBusy] = useState(false);
  const [share, setShare] = useState<number | undefined>(undefined);
  if (!offersSampleShop.value || isSampleShop.value) return null;
  const open = async () => {
    setBusy(true);
    const timer = setInterval(() => sampleShopProgress().then(setShare, () => {}), progressMs);
    const problem = await openSampleShop();
    clearInterval(timer);
    setBusy(false);
    if (problem) show({ text: problem, isProblem: true });
  };
  return (
    <>
      <button type="button" onClick={open} disabled={isBusy} aria-busy={isBusy}>
        {hasClosedSampleShop.value
          ? 'Open the sample shop'
          : isBusy
            ? 'Filling a month of a small shop …'
            : 'Look around with sample data'}
      </button>
      {isBusy && <progress value={share} aria-label="Sample data stored" />}
    </>
  );
};

/** The note stays hidden in this tab. */
const hiddenKey = 'firsthand sample shop note';

/** Says on every page of the sample shop that nobody in it is real. */
export const SampleShopNotice = () => {
  const [isAsking, setAsking] = useState(false);
  const [isHidden, setHidden] = useState(() => sessionStorage.getItem(hiddenKey) !== null);
  if (!isSampleShop.value || isHidden) return null;
  const hide = () => {
    sessionStorage.setItem(hiddenKey, 'yes');
    setHidden(true);
  };
  const remove = () => {
    setAsking(false);
    return act(removeSampleShop, { done: 'Sample data removed.' });
  };
  return (
    <div class="hint hint-line" role="note">
      <p>
        <strong>This is sample data:</strong> a month of an invented tea shop, in a separate account.
      </p>
      {isOwner.value && (
        <button type="button" onClick={() => setAsking(true)}>
          Remove it
        </button>
      )}
      <button type="button" class="quiet" aria-label="Hide this note" onClick={hide}>
        ×
      </button>
      {isAsking && (
        <DialogForm
          title="Remove the sample data?"
          close={() => setAsking(false)}
          action="Remove all of it"
          submit={remove}
          isDanger
        >
          <p>This deletes the account of the sample shop for everyone, with its views, links and members.</p>
        </DialogForm>
      )}
    </div>
  );
};
