/** Revokes a token after a confirmation, optionally with the tokens and share links that it created. */
import { useState } from 'preact/hooks';
import { api } from '../../api.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { act } from '../../parts/notices.tsx';
import { readAccount } from '../../reading/account.ts';
import { describeCreated, describeSessions, joinNames } from './revocation-words.ts';
import { isThisSession } from './this-session.ts';
import { liveDescendants, nameOfToken, type Token } from './token-list.ts';

const consequences: Readonly<Record<Token['tokenKind'], string>> = {
  browser: 'Pages with this token in their script tag can no longer send events. Stored events stay.',
  agent: 'Agents that use this token lose access.',
  viewer: 'Programs that use this token lose access.',
  editor: 'Programs that use this token lose access.',
  server: 'Programs that use this token lose access.',
};

interface RevokeProps {
  readonly token: Token;
  readonly all: readonly Token[];
}

const RevokeDialog = ({ token, all, close }: RevokeProps & { readonly close: () => void }) => {
  const { tokenID, tokenKind } = token;
  const name = nameOfToken(token);
  const now = Date.now();
  const descendants = liveDescendants(tokenID, all, now);
  const tokens = descendants.filter(({ session }) => !session);
  // A session always ends with the token that started it.
  const sessions = descendants.filter(({ session, createdBy }) => session && createdBy === tokenID);
  const mayShare = tokenKind === 'editor' || tokenKind === 'server';
  const [includesDescendants, setIncludesDescendants] = useState(false);
  const revoke = () => {
    close();
    return act(() => api.revokeToken({ tokenID, ...(includesDescendants && { descendants: true }) }), {
      done: includesDescendants ? `Revoked “${name}” and everything it created.` : `Revoked “${name}”.`,
      // Fails if this session has ended with the token; the console then shows the sign-in form.
      refresh: () => readAccount().catch(() => {}),
    });
  };
  return (
    <Dialog title={`Revoke “${name}”?`} close={close}>
      <p>
        The token stops working immediately. {consequences[tokenKind]} <strong>This cannot be undone.</strong>
      </p>
      {sessions.length > 0 && <p>{describeSessions(sessions.length, sessions.some(isThisSession))}</p>}
      {(tokens.length > 0 || mayShare) && (
        <label class="choice-line">
          <input
            type="checkbox"
            checked={includesDescendants}
            onChange={(event) => setIncludesDescendants(event.currentTarget.checked)}
          />
          <span>
            Also revoke {describeCreated(tokens.length, mayShare)} that it created
            <small class="soft">
              {joinNames(tokens.map(nameOfToken))}
              {descendants.some(isThisSession) && !sessions.some(isThisSession) && '. You will be signed out.'}
            </small>
          </span>
        </label>
      )}
      <p class="dialog-actions">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button type="button" class="danger" onClick={revoke}>
          Revoke token
        </button>
      </p>
    </Dialog>
  );
};

export const RevokeToken = ({ token, all }: RevokeProps) => {
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
