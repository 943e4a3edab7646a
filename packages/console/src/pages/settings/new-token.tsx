/** The text of a token that was just made. It stays on the page, and no click beside it closes it: a secret one is shown only here. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Card } from '../../parts/card.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import type { MadeToken } from './making.tsx';

export const NewToken = ({ made, close }: { readonly made: MadeToken; readonly close: () => void }) => {
  const { tokenUUID, tokenKind, tokenName } = made;
  const place = useRef<HTMLDivElement>(null);
  // At once: later it would take the focus from where the next key has moved it.
  useLayoutEffect(() => place.current?.focus(), [tokenUUID]);
  const tools = (
    <button type="button" onClick={close}>
      {tokenKind === 'browser' ? 'Close' : 'I have stored it'}
    </button>
  );
  return (
    <Card title={`New ${tokenKind} token${tokenName && ` “${tokenName}”`}`} class="new-token" tools={tools}>
      <div ref={place} tabIndex={-1}>
        {tokenKind === 'browser' ? (
          <p>It is public. Put it into the script tag of your pages.</p>
        ) : (
          <p>
            <strong>Copy it now: it is shown this once.</strong> Only its hash is stored, so nobody can read it again.
          </p>
        )}
        <div class="tag">
          <pre>
            <code>{tokenUUID}</code>
          </pre>
          <CopyButton text={tokenUUID} />
        </div>
      </div>
    </Card>
  );
};
