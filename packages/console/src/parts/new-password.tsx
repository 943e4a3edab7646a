/** The field for a new password. */
import { Field } from './field.tsx';

/** The server's minimum (NIST SP 800-63B-4). */
const minCharacters = 15;

export const NewPassword = ({ label }: { readonly label: string }) => (
  <Field label={label} hint={`At least ${minCharacters} characters. Four or five words are easy to remember.`}>
    {(attributes) => (
      <input
        {...attributes}
        name="password"
        type="password"
        autocomplete="new-password"
        required
        minLength={minCharacters}
      />
    )}
  </Field>
);
