/** A note that the current session can't change the page. */
import { canEdit, isOwner } from '../reading/account.ts';

export const ReadOnlyNotice = ({ forOwners = false }: { readonly forOwners?: boolean }) => {
  if ((forOwners ? isOwner : canEdit).value) return null;
  return (
    <p class="hint">
      {forOwners ? 'Only owners can change this page.' : 'You have read-only access.'} To make changes, ask an owner to
      change your role, or sign in with a server token.
    </p>
  );
};
