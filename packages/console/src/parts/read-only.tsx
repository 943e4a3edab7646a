/** The reason why nothing on a page can be changed. */
import { isOwner, mayChange } from '../reading/account.ts';

export const ReadOnly = ({ forOwners = false }: { readonly forOwners?: boolean }) => {
  if ((forOwners ? isOwner : mayChange).value) return null;
  return (
    <p class="hint">
      {forOwners ? 'Only an owner can change this page.' : 'You have read access only.'} To change it, ask an owner for
      another role, or sign in with a server token.
    </p>
  );
};
