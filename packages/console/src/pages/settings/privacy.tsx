/**
 * The account's name, time zone and currency, plus its privacy and Segment client settings. Each change is saved
 * immediately.
 */
import { useId } from 'preact/hooks';
import { Card } from '../../parts/card.tsx';
import { changeAccount } from '../../parts/change-account.ts';
import { ReadOnlyNotice } from '../../parts/read-only.tsx';
import { CopyableText } from '../../parts/small.tsx';
import { Switch } from '../../parts/switch.tsx';
import { account, isOwner } from '../../reading/account.ts';
import { formatTime } from '../../reading/format.ts';
import { AccountName, Currency, DefaultProfile, TimeZone } from './account-fields.tsx';

type Name = 'enrich' | 'strict' | 'browserCatalogue' | 'userIDIsEmailaddress';

interface Choice {
  readonly name: Name;
  readonly label: string;
  readonly description: string;
  /** The notices after turning it on and off. */
  readonly done: readonly [on: string, off: string];
}

const choices: readonly Choice[] = [
  {
    name: 'enrich',
    label: 'Detect browser, device and country',
    description:
      'Adds browser, operating system, device type and country to events from pages. The IP address and User-Agent are not stored.',
    done: [
      'New events include browser, device and country.',
      'New events no longer include browser, device or country. Stored events keep theirs.',
    ],
  },
  {
    name: 'browserCatalogue',
    label: 'Let pages add new names',
    description:
      'Adds profiles, tags and attributes to the catalogue when a page first uses them. If off, they are stored only with the event or claim.',
    done: ['Pages can now add new names.', 'Pages can no longer add new names.'],
  },
  {
    name: 'strict',
    label: 'Reject unknown names',
    description: 'Rejects events and contacts with an ID that is not in the catalogue, so that you notice typos.',
    done: ['Unknown names are now rejected.', 'Unknown names are now accepted.'],
  },
  {
    name: 'userIDIsEmailaddress',
    label: 'Segment’s userId is the e-mail address',
    description: 'If off, userId is your own ID.',
    done: ['userId is now the e-mail address.', 'userId is now your own ID.'],
  },
];

const ChoiceLine = ({ choice, isOn }: { readonly choice: Choice; readonly isOn: boolean }) => {
  const { name, label, description, done } = choice;
  const id = useId();
  return (
    <li>
      <span>
        <strong>{label}</strong>
        <small id={id} class="soft">
          {description}
        </small>
      </span>
      <Switch
        label={label}
        explainedBy={id}
        isOn={isOn}
        isDisabled={!isOwner.value}
        change={(after) =>
          changeAccount({
            change: { [name]: after },
            undo: { [name]: isOn },
            shown: { [name]: after },
            done: done[after ? 0 : 1],
          })
        }
      />
    </li>
  );
};

export const Privacy = () => {
  const shown = account.value;
  if (!shown) return null;
  const { accountUUID, createdTime } = shown;
  return (
    <>
      <ReadOnlyNotice forOwners />
      <div class="settings settings-columns">
        <Card title="Account">
          <div class="stacked">
            <AccountName account={shown} />
            <TimeZone account={shown} />
            <Currency account={shown} />
            <DefaultProfile account={shown} />
          </div>
          <dl class="facts account-facts">
            <div>
              <dt>ID</dt>
              <dd>
                <CopyableText text={accountUUID} />
              </dd>
            </div>
            <div>
              <dt>Created</dt>
              <dd>{formatTime(createdTime, 'long')}</dd>
            </div>
          </dl>
        </Card>
        <Card title="Privacy">
          <ul class="switches">
            {choices.map((choice) => (
              <ChoiceLine key={choice.name} choice={choice} isOn={shown[choice.name]} />
            ))}
          </ul>
        </Card>
      </div>
    </>
  );
};
