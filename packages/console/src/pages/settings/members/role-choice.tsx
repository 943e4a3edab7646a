/** A button that shows a member's role and opens a dialog to change it. */
import { useState } from 'preact/hooks';
import { api } from '../../../api.ts';
import { DialogForm } from '../../../parts/dialog-form.tsx';
import { act } from '../../../parts/notices.tsx';
import type { Member } from '../../../reading/member-names.ts';
import { readMembers } from '../../../reading/members.ts';
import { type Role, RoleField } from './roles.tsx';

const RoleDialog = ({ member, close }: { readonly member: Member; readonly close: () => void }) => {
  const { memberID, memberRole: before, memberEmailaddress } = member;
  const [role, setRole] = useState<Role>(before);
  const submit = () => {
    close();
    if (role === before) return;
    act(() => api.updateMember({ memberID, memberRole: role }), {
      done: `The role of ${memberEmailaddress} is now ${role}.`,
      undo: () => api.updateMember({ memberID, memberRole: before }),
      refresh: readMembers,
    });
  };
  return (
    <DialogForm title={`Role of ${memberEmailaddress}`} close={close} action="Change" submit={submit}>
      <RoleField chosen={role} choose={setRole} />
      <p class="soft">The change takes effect immediately, including in open sessions.</p>
    </DialogForm>
  );
};

export const RoleChoice = ({ member }: { readonly member: Member }) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        aria-label={`${member.memberRole}, role of ${member.memberEmailaddress}`}
        onClick={() => setOpen(true)}
      >
        {member.memberRole}…
      </button>
      {isOpen && <RoleDialog member={member} close={() => setOpen(false)} />}
    </>
  );
};
