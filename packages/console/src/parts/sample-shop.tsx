/** The button that opens the sample shop, and the notice shown inside it. */
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

/** Creates the sample shop if necessary, then opens it. Renders nothing if the server offers none. */
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
        {hasClosedSampleShop.value ? 'Open the sample shop' : isBusy ? 'Loading sample data…' : 'Explore sample data'}
      </button>
      {isBusy && <progress value={share} aria-label="Loading sample data" />}
    </>
  );
};

/** In sessionStorage: the notice stays hidden in this tab only. */
const hiddenKey = 'firsthand sample shop note';

/** Shown on every page of the sample shop. */
export const SampleShopNotice = () => {
  const [isConfirming, setConfirming] = useState(false);
  const [isHidden, setHidden] = useState(() => sessionStorage.getItem(hiddenKey) !== null);
  if (!isSampleShop.value || isHidden) return null;
  const hide = () => {
    sessionStorage.setItem(hiddenKey, 'yes');
    setHidden(true);
  };
  const remove = () => {
    setConfirming(false);
    return act(removeSampleShop, { done: 'Sample data removed.' });
  };
  return (
    <div class="hint hint-line" role="note">
      <p>
        <strong>This is sample data:</strong> one month of a made-up tea shop, in a separate account.
      </p>
      {isOwner.value && (
        <button type="button" onClick={() => setConfirming(true)}>
          Remove sample data
        </button>
      )}
      <button type="button" class="quiet" aria-label="Hide this note" onClick={hide}>
        ×
      </button>
      {isConfirming && (
        <DialogForm
          title="Remove the sample data?"
          close={() => setConfirming(false)}
          action="Remove"
          submit={remove}
          isDanger
        >
          <p>This deletes the sample shop account for everyone, including its views, links and members.</p>
        </DialogForm>
      )}
    </div>
  );
};
