/** A new token. */
import { SecretCard } from '../../parts/secret-card.tsx';
import type { CreatedToken } from './create-token.tsx';

export const NewToken = ({ token, close }: { readonly token: CreatedToken; readonly close: () => void }) => {
  const { tokenUUID, tokenKind, tokenName } = token;
  const isPublic = tokenKind === 'browser';
  return (
    <SecretCard
      title={`New ${tokenKind} token${tokenName && ` “${tokenName}”`}`}
      secret={tokenUUID}
      done={isPublic ? 'Close' : 'I’ve saved it'}
      close={close}
    >
      {isPublic ? (
        <p>This token is public. Put it in the script tag on your pages.</p>
      ) : (
        <p>
          <strong>Copy it now. It won’t be shown again:</strong> only its hash is stored.
        </p>
      )}
    </SecretCard>
  );
};
