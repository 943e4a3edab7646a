/** The dialog that invites a member. */
import { useState } from 'preact/hooks';
import { api, messageOf } from '../../../api.ts';
import { DialogForm } from '../../../parts/dialog-form.tsx';
import { Field } from '../../../parts/field.tsx';
import { LoopbackWarning } from '../../../parts/small.tsx';
import { readMembers } from '../../../reading/members.ts';
import type { NewInvitation } from './invitation-link.tsx';
import { type Role, RoleField } from './roles.tsx';

interface InviteProps {
  readonly onInvite: (invitation: NewInvitation) => void;
}

const InviteDialog = ({ onInvite, close }: InviteProps & { readonly close: () => void }) => {
  const [memberEmailaddress, setEmailaddress] = useState('');
  const [memberRole, setRole] = useState<Role>('viewer');
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const submit = async () => {
    setBusy(true);
    try {
      const { invitationCode, expiresTime } = await api.inviteMember({ memberEmailaddress, memberRole });
      close();
      onInvite({ memberEmailaddress, invitationCode, expiresTime });
      await readMembers();
    } catch (error) {
      setProblem(messageOf(error));
      setBusy(false);
    }
  };
  return (
    <DialogForm
      title="Invite a member"
      close={close}
      action="Invite"
      submit={submit}
      problem={problem}
      isDisabled={isBusy}
    >
      <Field
        label="E-mail address"
        hint="We don’t send e-mail. You get a link to pass on. People who already joined keep their role."
      >
        {(attributes) => (
          <input
            {...attributes}
            type="email"
            required
            autocomplete="off"
            placeholder="ben@shop.example"
            value={memberEmailaddress}
            onInput={(event) => setEmailaddress(event.currentTarget.value)}
          />
        )}
      </Field>
      <RoleField chosen={memberRole} choose={setRole} />
      <LoopbackWarning />
    </DialogForm>
  );
};

export const InviteMember = ({ onInvite }: InviteProps) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Invite a member…
      </button>
      {isOpen && <InviteDialog onInvite={onInvite} close={() => setOpen(false)} />}
    </>
  );
};
