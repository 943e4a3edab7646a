/** The buttons that send a member a new invitation or, after a confirmation, remove the member. */
import { useState } from 'preact/hooks';
import { api } from '../../../api.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { act } from '../../../parts/notices.tsx';
import type { Member } from '../../../reading/member-names.ts';
import { readMembers } from '../../../reading/members.ts';
import type { NewInvitation } from './invitation-link.tsx';

interface MemberActionsProps {
  readonly member: Member;
  readonly onInvite: (invitation: NewInvitation) => void;
}

const RemoveDialog = ({ member, close }: { readonly member: Member; readonly close: () => void }) => {
  const { memberID, memberEmailaddress } = member;
  const [descendants, setDescendants] = useState(false);
  const remove = () => {
    close();
    return act(() => api.removeMember({ memberID, ...(descendants && { descendants }) }), {
      done: descendants
        ? `${memberEmailaddress} can no longer sign in. Everything they created is revoked.`
        : `${memberEmailaddress} can no longer sign in.`,
      // Fails if the user has removed their own membership; the console then shows the sign-in form.
      refresh: () => readMembers().catch(() => {}),
    });
  };
  return (
    <Dialog title={`Remove ${memberEmailaddress}?`} close={close}>
      <p>
        Their sessions end immediately. Their entries stay in the audit log, but without their name. To restore access,
        send a new invitation.
      </p>
      <label class="choice-line">
        <input
          type="checkbox"
          checked={descendants}
          onChange={(event) => setDescendants(event.currentTarget.checked)}
        />
        <span>
          Also revoke the tokens, share links and open invitations they created
          <small class="soft">
            Otherwise these keep working. Programs that use a revoked token lose access, and this cannot be undone.
            Browser tokens keep working either way, because pages use them.
          </small>
        </span>
      </label>
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

export const MemberActions = ({ member, onInvite }: MemberActionsProps) => {
  const [isOpen, setOpen] = useState(false);
  const { memberEmailaddress, memberRole } = member;
  const reinvite = () =>
    act(
      async () => {
        const { invitationCode, expiresTime } = await api.inviteMember({ memberEmailaddress, memberRole });
        onInvite({ memberEmailaddress, invitationCode, expiresTime });
      },
      { done: 'The new invitation link is at the top of the page.', refresh: readMembers },
    );
  return (
    <>
      <button
        type="button"
        class="quiet"
        aria-label={`New invitation link for ${memberEmailaddress}`}
        onClick={reinvite}
      >
        New link
      </button>
      <button type="button" class="quiet" aria-label={`Remove ${memberEmailaddress}`} onClick={() => setOpen(true)}>
        Remove…
      </button>
      {isOpen && <RemoveDialog member={member} close={() => setOpen(false)} />}
    </>
  );
};
