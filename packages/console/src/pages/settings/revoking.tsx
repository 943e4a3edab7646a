/** Revokes a token after saying what will happen, on request with the tokens and share links that it made. */
import { useState } from 'preact/hooks';
import { api } from '../../api.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { act } from '../../parts/notices.tsx';
import { readAccount } from '../../reading/account.ts';
import { madeInWords, namesInWords, sessionsInWords } from './revocation-words.ts';
import { isThisSession } from './this-session.ts';
import { liveDescendants, nameOfToken, type Token } from './token-list.ts';

const consequences: Readonly<Record<Token['tokenKind'], string>> = {
  browser: 'Pages whose script tag has this token can no longer send events. What they have sent stays.',
  viewer: 'Programs that read with this token are refused from then on.',
  editor: 'Programs that read or write with this token are refused from then on.',
  server: 'Programs that read or write with this token are refused from then on.',
};

interface RevokeProps {
  readonly token: Token;
  readonly all: readonly Token[];
}

const RevokeDialog = ({ token, all, close }: RevokeProps & { readonly close: () => void }) => {
  const { tokenID, tokenKind } = token;
  const name = nameOfToken(token);
  const now = Date.now();
  const further = liveDescendants(tokenID, all, now);
  const tokens = further.filter(({ session }) => !session);
  // A session ends with the token that signed in, whether or not the others are revoked.
  const sessions = further.filter(({ session, createdBy }) => session && createdBy === tokenID);
  const mayShare = tokenKind === 'editor' || tokenKind === 'server';
  const [withFurther, setWithFurther] = useState(false);
  const revoke = () => {
    close();
    return act(() => api.revokeToken({ tokenID, ...(withFurther && { descendants: true }) }), {
      done: withFurther ? `“${name}” and what it made are revoked.` : `“${name}” is revoked.`,
      // This session may have ended with it: then the page asks to sign in.
      after: () => readAccount().catch(() => {}),
    });
  };
  return (
    <Dialog title={`Revoke “${name}”?`} close={close}>
      <p>
        The token stops working immediately. {consequences[tokenKind]} <strong>This cannot be undone.</strong>
      </p>
      {sessions.length > 0 && <p>{sessionsInWords(sessions.length, sessions.some(isThisSession))}</p>}
      {(tokens.length > 0 || mayShare) && (
        <label class="choice-line">
          <input
            type="checkbox"
            checked={withFurther}
            onChange={(event) => setWithFurther(event.currentTarget.checked)}
          />
          <span>
            Also revoke {madeInWords(tokens.length, mayShare)} that it made
            <small class="soft">
              {namesInWords(tokens.map(nameOfToken))}
              {further.some(isThisSession) && !sessions.some(isThisSession) && '. You will be signed out.'}
            </small>
          </span>
        </label>
      )}
      <p class="dialog-actions">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button type="button" class="danger" onClick={revoke}>
          Revoke for good
        </button>
      </p>
    </Dialog>
  );
};

export const Revoke = ({ token, all }: RevokeProps) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="quiet" aria-label={`Revoke ${nameOfToken(token)}`} onClick={() => setOpen(true)}>
        Revoke
      </button>
      {isOpen && <RevokeDialog token={token} all={all} close={() => setOpen(false)} />}
    </>
  );
};
