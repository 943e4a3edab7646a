/** The roles and the field to choose one. */
import type { Member } from '../../../reading/member-names.ts';

export type Role = Member['memberRole'];

const roles: Readonly<Record<Role, string>> = {
  viewer: 'Can read everything and change nothing.',
  editor: 'Can also edit contacts, catalogue, segments and views, and share reports. Cannot erase people.',
  owner: 'Can do everything, including managing tokens, members and sites, and erasing people.',
};

export const RoleField = ({ chosen, choose }: { readonly chosen: Role; readonly choose: (role: Role) => void }) => (
  <fieldset class="kinds">
    <legend>Role</legend>
    {(Object.keys(roles) as Role[]).map((role) => (
      <label key={role} class="choice-line">
        <input type="radio" name="role" checked={chosen === role} onChange={() => choose(role)} />
        <span>
          {role}
          <small class="soft">{roles[role]}</small>
        </span>
      </label>
    ))}
  </fieldset>
);
