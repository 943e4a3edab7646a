/**
 * A new token. A card rather than a dialog, so that a stray click can't close it: a secret token is shown only once.
 */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Card } from '../../parts/card.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import type { CreatedToken } from './create-token.tsx';

export const NewToken = ({ token, close }: { readonly token: CreatedToken; readonly close: () => void }) => {
  const { tokenUUID, tokenKind, tokenName } = token;
  const container = useRef<HTMLDivElement>(null);
  // A layout effect: a passive effect runs later, and could take back the focus after a key press has moved it.
  useLayoutEffect(() => container.current?.focus(), [tokenUUID]);
  const tools = (
    <button type="button" onClick={close}>
      {tokenKind === 'browser' ? 'Close' : 'I’ve saved it'}
    </button>
  );
  return (
    <Card title={`New ${tokenKind} token${tokenName && ` “${tokenName}”`}`} class="new-token" tools={tools}>
      <div ref={container} tabIndex={-1}>
        {tokenKind === 'browser' ? (
          <p>This token is public. Put it in the script tag on your pages.</p>
        ) : (
          <p>
            <strong>Copy it now. It won’t be shown again:</strong> only its hash is stored.
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
