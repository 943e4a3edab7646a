/** Gives a person a new invitation, or takes the access away after saying what will happen. */
import { useState } from 'preact/hooks';
import { api } from '../../../api.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { act } from '../../../parts/notices.tsx';
import type { Member } from '../../../reading/member-names.ts';
import { readMembers } from '../../../reading/members.ts';
import type { Invited } from './invitation-link.tsx';

interface RemoveProps {
  readonly member: Member;
  readonly invited: (invited: Invited) => void;
}

const RemoveDialog = ({ member, close }: { readonly member: Member; readonly close: () => void }) => {
  const { memberID, memberEmailaddress } = member;
  const [descendants, setDescendants] = useState(false);
  const remove = () => {
    close();
    return act(() => api.removeMember({ memberID, ...(descendants && { descendants }) }), {
      done: descendants
        ? `${memberEmailaddress} can no longer sign in, and what this person made is revoked.`
        : `${memberEmailaddress} can no longer sign in.`,
      // It may have been the reader: then the page asks to sign in.
      after: () => readMembers().catch(() => {}),
    });
  };
  return (
    <Dialog title={`Remove ${memberEmailaddress}?`} close={close}>
      <p>
        Open sessions end immediately. The audit log keeps their entries, without the name. To give access again, send a
        new invitation.
      </p>
      <label class="choice-line">
        <input
          type="checkbox"
          checked={descendants}
          onChange={(event) => setDescendants(event.currentTarget.checked)}
        />
        <span>
          Also revoke the tokens, share links and open invitations that this person made
          <small class="soft">
            Otherwise they stay valid. Programs that use such a token are refused from then on, and this cannot be
            undone. Browser tokens stay valid in either case, because pages use them.
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

export const Remove = ({ member, invited }: RemoveProps) => {
  const [isOpen, setOpen] = useState(false);
  const { memberEmailaddress, memberRole } = member;
  const again = () =>
    act(
      async () => {
        const { invitationCode, expiresTime } = await api.inviteMember({ memberEmailaddress, memberRole });
        invited({ memberEmailaddress, invitationCode, expiresTime });
      },
      { done: 'The new invitation is above.', after: readMembers },
    );
  return (
    <>
      <button type="button" class="quiet" aria-label={`New link for ${memberEmailaddress}`} onClick={again}>
        New link
      </button>
      <button type="button" class="quiet" aria-label={`Remove ${memberEmailaddress}`} onClick={() => setOpen(true)}>
        Remove …
      </button>
      {isOpen && <RemoveDialog member={member} close={() => setOpen(false)} />}
    </>
  );
};
