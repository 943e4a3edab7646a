/** The account and its privacy: name, time zone, currency, and the data that is stored of visitors. Each change is saved at once. */
import { useId } from 'preact/hooks';
import { Card } from '../../parts/card.tsx';
import { changeAccount } from '../../parts/change-account.ts';
import { ReadOnly } from '../../parts/read-only.tsx';
import { Copyable } from '../../parts/small.tsx';
import { Switch } from '../../parts/switch.tsx';
import { type Account, account, isOwner } from '../../reading/account.ts';
import { formatTime } from '../../reading/format.ts';
import { AccountName, Currency, TimeZone } from './account-fields.tsx';

type Name = 'enrich' | 'strict' | 'browserCatalogue';

interface Choice {
  readonly name: Name;
  readonly label: string;
  readonly explains: string;
  /** What the notice says when it was switched on, and off. */
  readonly done: readonly [on: string, off: string];
}

const choices: readonly Choice[] = [
  {
    name: 'enrich',
    label: 'Detect browser, device and country',
    explains:
      'Events of browser tokens get the browser, the operating system, the kind of device and the country. The IP address and the User-Agent are not stored.',
    done: [
      'New events include browser, device and country.',
      'New events no longer include browser, device or country. Stored events keep theirs.',
    ],
  },
  {
    name: 'browserCatalogue',
    label: 'Let pages add new names',
    explains:
      'Profiles, tags and attributes that browser tokens use for the first time are added to the catalogue. Otherwise they are stored with the event or the claim only.',
    done: ['Pages can add new names.', 'Pages can no longer add new names.'],
  },
  {
    name: 'strict',
    label: 'Reject unknown names',
    explains:
      'An event or a contact with an ID that the catalogue does not list is refused, so that a mistyped ID is noticed.',
    done: ['Unknown names are now rejected.', 'Unknown names are now accepted.'],
  },
];

const ChoiceLine = ({ choice, of }: { readonly choice: Choice; readonly of: Account }) => {
  const { name, label, explains, done } = choice;
  const id = useId();
  const isOn = of[name];
  return (
    <li>
      <span>
        <strong>{label}</strong>
        <small id={id} class="soft">
          {explains}
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
      <ReadOnly forOwners />
      <div class="settings settings-columns">
        <Card title="Account">
          <div class="stacked">
            <AccountName of={shown} />
            <TimeZone of={shown} />
            <Currency of={shown} />
          </div>
          <dl class="facts account-facts">
            <div>
              <dt>ID</dt>
              <dd>
                <Copyable text={accountUUID} />
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
              <ChoiceLine key={choice.name} choice={choice} of={shown} />
            ))}
          </ul>
        </Card>
      </div>
    </>
  );
};
