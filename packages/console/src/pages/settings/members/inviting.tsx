/** Invites a person: the e-mail address and the role. */
import { useState } from 'preact/hooks';
import { api, messageOf } from '../../../api.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { Field } from '../../../parts/field.tsx';
import { Problem } from '../../../parts/small.tsx';
import { readMembers } from '../../../reading/members.ts';
import type { Invited } from './invitation-link.tsx';
import { type Role, roles } from './roles.ts';

interface InviteProps {
  readonly invited: (invited: Invited) => void;
}

const InviteDialog = ({ invited, close }: InviteProps & { readonly close: () => void }) => {
  const [memberEmailaddress, setEmailaddress] = useState('');
  const [memberRole, setRole] = useState<Role>('viewer');
  const [problem, setProblem] = useState('');
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      const { invitationCode, expiresTime } = await api.inviteMember({ memberEmailaddress, memberRole });
      close();
      invited({ memberEmailaddress, invitationCode, expiresTime });
      await readMembers();
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <Dialog title="Invite a person" close={close}>
      <form class="stacked" onSubmit={submit}>
        <Field label="E-mail address" hint="No e-mail is sent: you get a link, to pass on as you like.">
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
        <fieldset class="kinds">
          <legend>Role</legend>
          {(Object.keys(roles) as Role[]).map((role) => (
            <label key={role} class="choice-line">
              <input type="radio" name="role" checked={memberRole === role} onChange={() => setRole(role)} />
              <span>
                {role}
                <small class="soft">{roles[role]}</small>
              </span>
            </label>
          ))}
        </fieldset>
        {problem && <Problem text={problem} />}
        <p class="dialog-actions">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="main">
            Invite
          </button>
        </p>
      </form>
    </Dialog>
  );
};

export const Invite = ({ invited }: InviteProps) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Invite a person …
      </button>
      {isOpen && <InviteDialog invited={invited} close={() => setOpen(false)} />}
    </>
  );
};
