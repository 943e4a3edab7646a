/** Changes the password of the member who is signed in, or sets the first one. */
import { useState } from 'preact/hooks';
import { DialogForm } from '../../../parts/dialog-form.tsx';
import { Field } from '../../../parts/field.tsx';
import { NewPassword } from '../../../parts/new-password.tsx';
import { show } from '../../../parts/notices.tsx';
import { changePassword, type Own } from './own.ts';

interface ChangeProps {
  readonly own: Own;
  readonly changed: () => void;
}

const ChangeDialog = ({ own, changed, close }: ChangeProps & { readonly close: () => void }) => {
  const { hasPassword, memberEmailaddress } = own;
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const submit = async (fields: FormData) => {
    setBusy(true);
    const why = await changePassword(fields);
    setBusy(false);
    setProblem(why);
    if (why) return;
    close();
    show({
      text: `Password ${hasPassword ? 'changed' : 'set'} for this account. Your other sessions in it have ended.`,
    });
    changed();
  };
  return (
    <DialogForm
      title={hasPassword ? 'Change your password' : 'Set a password'}
      close={close}
      action={hasPassword ? 'Change' : 'Set'}
      submit={submit}
      problem={problem}
      isDisabled={isBusy}
    >
      <p>This is your password for this account only. Your other sessions in it end.</p>
      {/* Password managers store the new password with it. */}
      <input type="email" autocomplete="username" value={memberEmailaddress} readOnly hidden />
      {hasPassword && (
        <Field label="Current password">
          {(attributes) => (
            <input {...attributes} name="currentPassword" type="password" autocomplete="current-password" required />
          )}
        </Field>
      )}
      <NewPassword label="New password" />
    </DialogForm>
  );
};

export const ChangePassword = (props: ChangeProps) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        {props.own.hasPassword ? 'Change password …' : 'Set a password …'}
      </button>
      {isOpen && <ChangeDialog {...props} close={() => setOpen(false)} />}
    </>
  );
};
