/** The dialog that changes the current member's password, or sets the first one. */
import { useState } from 'preact/hooks';
import { DialogForm } from '../../../parts/dialog-form.tsx';
import { Field } from '../../../parts/field.tsx';
import { NewPassword } from '../../../parts/new-password.tsx';
import { show } from '../../../parts/notices.tsx';
import { type Credentials, changePassword } from './credentials.ts';

interface ChangeProps {
  readonly own: Credentials;
  readonly onChange: () => void;
}

const ChangeDialog = ({ own, onChange, close }: ChangeProps & { readonly close: () => void }) => {
  const { hasPassword, memberEmailaddress } = own;
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const submit = async (fields: FormData) => {
    setBusy(true);
    const failure = await changePassword(fields);
    setBusy(false);
    setProblem(failure);
    if (failure) return;
    close();
    show({
      text: `Password ${hasPassword ? 'changed' : 'set'} for this account. Your other sessions have ended.`,
    });
    onChange();
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
      <p>This password is for this account only. Your other sessions in this account will end.</p>
      {/* Password managers store the new password for this address. */}
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
        {props.own.hasPassword ? 'Change password…' : 'Set a password…'}
      </button>
      {isOpen && <ChangeDialog {...props} close={() => setOpen(false)} />}
    </>
  );
};
