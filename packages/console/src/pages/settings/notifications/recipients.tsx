/** The choice of the members who receive the mails of a notification. Only owners can read the list of members. */
import { members } from '../../../reading/member-names.ts';

interface RecipientsProps {
  readonly chosen: readonly string[];
  readonly change: (memberIDs: readonly string[]) => void;
}

export const Recipients = ({ chosen, change }: RecipientsProps) => {
  const joined = (members.value ?? []).filter(({ joinedTime }) => joinedTime !== undefined);
  return (
    <fieldset class="kinds">
      <legend>Recipients</legend>
      {joined.map(({ memberID, memberName, memberEmailaddress }) => (
        <label key={memberID} class="choice-line">
          <input
            type="checkbox"
            checked={chosen.includes(memberID)}
            onChange={({ currentTarget: { checked } }) =>
              change(checked ? [...chosen, memberID] : chosen.filter((each) => each !== memberID))
            }
          />
          <span>
            {memberName || memberEmailaddress}
            <small class="soft">{memberEmailaddress}</small>
          </span>
        </label>
      ))}
      {joined.length === 0 && <p class="soft">Nobody has joined yet. Invite people in Settings › Team.</p>}
      <small class="soft">People who receive their first mail are asked to confirm their address.</small>
    </fieldset>
  );
};
