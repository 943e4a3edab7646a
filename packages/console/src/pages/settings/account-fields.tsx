/** The account's name, time zone and currency, and the profile for contacts from Segment's clients. */
import { changeAccount } from '../../parts/change-account.ts';
import { Field } from '../../parts/field.tsx';
import { type Account, isOwner } from '../../reading/account.ts';

/**
 * ISO 4217 codes with their names, sorted by code. Includes the current code even if the browser does not support it.
 */
const listCurrencies = (current: string): readonly (readonly [code: string, name: string])[] => {
  const names = new Intl.DisplayNames(document.documentElement.lang, { type: 'currency' });
  const codes = new Set([...Intl.supportedValuesOf('currency'), ...(current ? [current] : [])]);
  return [...codes].toSorted().map((code) => [code, names.of(code) ?? code]);
};

/** The time zones, sorted. `supportedValuesOf` omits UTC and deprecated names, so UTC and the current one are added. */
const listTimeZones = (current: string): readonly string[] =>
  [...new Set(['UTC', current, ...Intl.supportedValuesOf('timeZone')])].toSorted();

interface FieldProps {
  readonly account: Account;
}

export const AccountName = ({ account: { accountName } }: FieldProps) => {
  const save = (input: HTMLInputElement) => {
    const name = input.value.trim();
    // The name is required: an empty field reverts to the old name.
    if (name === '' || name === accountName) input.value = accountName;
    else
      changeAccount({
        change: { accountName: name },
        undo: { accountName },
        shown: { accountName: name },
        done: `The account is now called “${name}”.`,
      });
  };
  return (
    <Field label="Name" hint="Shown at the top of the console. Press Enter to save.">
      {(attributes) => (
        <input
          {...attributes}
          type="text"
          maxLength={255}
          autocomplete="off"
          value={accountName}
          disabled={!isOwner.value}
          onChange={(event) => save(event.currentTarget)}
        />
      )}
    </Field>
  );
};

export const TimeZone = ({ account: { accountTimezone } }: FieldProps) => {
  const save = (zone: string) =>
    changeAccount({
      change: { accountTimezone: zone },
      undo: { accountTimezone },
      shown: { accountTimezone: zone },
      done: `Days now start at midnight in ${zone}.`,
    });
  return (
    <Field
      label="Time zone"
      hint="In reports, days, weeks and months start at midnight in this time zone. Stored event times do not change."
    >
      {(attributes) => (
        <select
          {...attributes}
          value={accountTimezone}
          disabled={!isOwner.value}
          onChange={(event) => save(event.currentTarget.value)}
        >
          {listTimeZones(accountTimezone).map((zone) => (
            <option key={zone} value={zone}>
              {zone.replaceAll('_', ' ')}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
};

export const Currency = ({ account: { accountCurrency } }: FieldProps) => {
  const currencies = listCurrencies(accountCurrency);
  const save = (code: string) =>
    changeAccount({
      change: { accountCurrency: code || null },
      undo: { accountCurrency: accountCurrency || null },
      shown: { accountCurrency: code },
      done: code ? `Revenue is now shown in ${code}.` : 'Revenue is now shown without a currency.',
    });
  return (
    <Field label="Currency for revenue" hint="Amounts are not converted.">
      {(attributes) => (
        <select
          {...attributes}
          value={accountCurrency}
          disabled={!isOwner.value}
          onChange={(event) => save(event.currentTarget.value)}
        >
          <option value="">None</option>
          {currencies.map(([code, name]) => (
            <option key={code} value={code}>
              {code === name ? code : `${code} · ${name}`}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
};

export const DefaultProfile = ({ account: { defaultProfileID, profile } }: FieldProps) => {
  const save = (profileID: string) =>
    changeAccount({
      change: { defaultProfileID: profileID || null },
      undo: { defaultProfileID: defaultProfileID || null },
      shown: { defaultProfileID: profileID },
      done: 'New contacts from Segment’s clients now get this profile.',
    });
  return (
    <Field label="Profile for contacts from Segment’s clients">
      {(attributes) => (
        <select
          {...attributes}
          value={defaultProfileID}
          disabled={!isOwner.value}
          onChange={(event) => save(event.currentTarget.value)}
        >
          <option value="">First in the catalogue</option>
          {profile.map(({ profileID, profileName }) => (
            <option key={profileID} value={profileID}>
              {profileName}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
};
