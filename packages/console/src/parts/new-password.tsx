/** The field for a password that a member chooses. */
import { Field } from './field.tsx';

/** As the server requires (NIST SP 800-63B-4). */
const minCharacters = 15;

export const NewPassword = ({ label }: { readonly label: string }) => (
  <Field label={label} hint={`At least ${minCharacters} characters: four or five words are easy to remember.`}>
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
