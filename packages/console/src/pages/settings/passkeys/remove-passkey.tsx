/** Removes a passkey after a confirmation. */
import { useState } from 'preact/hooks';
import { Dialog } from '../../../parts/dialog.tsx';
import { act } from '../../../parts/notices.tsx';
import { type Passkey, removePasskey } from './credentials.ts';

interface RemoveProps {
  readonly passkey: Passkey;
  readonly onRemove: () => void;
}

const RemoveDialog = ({ passkey, onRemove, close }: RemoveProps & { readonly close: () => void }) => {
  const { passkeyID, passkeyName } = passkey;
  const remove = () => {
    close();
    return act(() => removePasskey(passkeyID), { done: `Removed the passkey “${passkeyName}”.`, refresh: onRemove });
  };
  return (
    <Dialog title={`Remove “${passkeyName}”?`} close={close}>
      <p>
        You can no longer sign in with it. Your device offers it until you delete it there too. Open sessions continue.
      </p>
      <p class="dialog-actions">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button type="button" class="danger" onClick={remove}>
          Remove
        </button>
      </p>
    </Dialog>
  );
};

export const RemovePasskey = (props: RemoveProps) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        class="quiet"
        aria-label={`Remove the passkey ${props.passkey.passkeyName}`}
        onClick={() => setOpen(true)}
      >
        Remove…
      </button>
      {isOpen && <RemoveDialog {...props} close={() => setOpen(false)} />}
    </>
  );
};
