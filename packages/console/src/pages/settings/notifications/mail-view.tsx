/** The dialog that creates a digest of the current page, or an alert about it. */
import type { RequestFor } from '@firsthand/client';
import { useEffect, useState } from 'preact/hooks';
import { api, problemOf } from '../../../api.ts';
import { DialogForm } from '../../../parts/dialog-form.tsx';
import { Field } from '../../../parts/field.tsx';
import { show } from '../../../parts/notices.tsx';
import { isOwner, timezone } from '../../../reading/account.ts';
import { conditions, describeCondition } from '../../../reading/filter.ts';
import { readMembers } from '../../../reading/members.ts';
import { listReports, type PageReport } from '../../../reading/report.ts';
import { useFetch } from '../../../reading/use-fetch.ts';
import { readCurrentView } from '../../../reading/views.ts';
import { NoMail } from './no-mail.tsx';
import { nameOfWeekday } from './notification.ts';
import { Recipients } from './recipients.tsx';

type NewNotification = RequestFor<'createNotification'>;

const choices = {
  day: 'Every day: the figures of yesterday',
  week: 'Every week: the figures of last week',
  silence: 'When there are no events for some hours',
  threshold: 'When a number is too low or too high',
  drop: 'When there is less than a week before',
} as const;
type Choice = keyof typeof choices;

/** Mails show no retention, and no breakdown over time. */
const isMailed = ({ operation, request }: PageReport): boolean =>
  operation !== 'reportRetention' && !(operation === 'reportBreakdown' && 'interval' in request && request.interval);

interface Settings {
  readonly hour: string;
  readonly weekday: string;
  readonly hours: string;
  readonly period: string;
  readonly measure: string;
  readonly bound: string;
  readonly number: string;
  readonly percent: string;
}
const defaults: Settings = {
  ...{ hour: '8', weekday: '1', hours: '2', period: 'day', measure: 'people', bound: 'below', number: '100' },
  percent: '50',
};

const toSettings = (choice: Choice, settings: Settings): Partial<NewNotification> => {
  const { hour, weekday, hours, period, measure, bound, number, percent } = settings;
  const counted = { period, measure } as Pick<NewNotification, 'period' | 'measure'>;
  if (choice === 'day') return { kind: 'digest', every: 'day', hour };
  if (choice === 'week') return { kind: 'digest', every: 'week', hour, weekday };
  if (choice === 'silence') return { kind: 'silence', hours };
  if (choice === 'drop') return { kind: 'drop', ...counted, percent };
  return { kind: 'threshold', ...counted, [bound]: number };
};

interface SettingProps {
  readonly label: string;
  readonly name: keyof Settings;
  readonly settings: Settings;
  readonly set: (changed: Partial<Settings>) => void;
}

const NumberSetting = ({ label, name, settings, set, min, max }: SettingProps & { min: number; max: number }) => (
  <Field label={label}>
    {(attributes) => (
      <input
        {...attributes}
        type="number"
        required
        min={min}
        max={max}
        value={settings[name]}
        onInput={(event) => set({ [name]: event.currentTarget.value })}
      />
    )}
  </Field>
);

const ChoiceSetting = ({ label, name, settings, set, options }: SettingProps & { options: Record<string, string> }) => (
  <Field label={label}>
    {(attributes) => (
      <select {...attributes} value={settings[name]} onChange={(event) => set({ [name]: event.currentTarget.value })}>
        {Object.entries(options).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    )}
  </Field>
);

const hourNames = Object.fromEntries(Array.from({ length: 24 }, (_, hour) => [hour, `${hour}:00`]));
const weekdayNames = Object.fromEntries(Array.from({ length: 7 }, (_, nth) => [nth + 1, nameOfWeekday(nth + 1)]));

const SettingFields = ({ choice, ...rest }: Pick<SettingProps, 'settings' | 'set'> & { choice: Choice }) => {
  if (choice === 'silence')
    return <NumberSetting {...rest} label="Hours without events" name="hours" min={1} max={168} />;
  if (choice === 'day' || choice === 'week')
    return (
      <>
        {choice === 'week' && <ChoiceSetting {...rest} label="Day" name="weekday" options={weekdayNames} />}
        <ChoiceSetting {...rest} label={`Time (${timezone.value})`} name="hour" options={hourNames} />
      </>
    );
  return (
    <>
      <ChoiceSetting {...rest} label="Count" name="measure" options={{ people: 'People', events: 'Events' }} />
      <ChoiceSetting {...rest} label="In" name="period" options={{ hour: 'the last hour', day: 'the last 24 hours' }} />
      {choice === 'drop' ? (
        <NumberSetting {...rest} label="Percent less than a week before" name="percent" min={1} max={100} />
      ) : (
        <>
          <ChoiceSetting {...rest} label="Is" name="bound" options={{ below: 'fewer than', above: 'more than' }} />
          <NumberSetting {...rest} label="Number" name="number" min={0} max={1_000_000_000} />
        </>
      )}
    </>
  );
};

export interface MailViewProps {
  /** The name of the current saved view; '' if the page is not a saved view. */
  readonly viewName: string;
  readonly close: () => void;
}

/** Returns a report's request without the filter, which an alert of silence cannot have. */
const withoutFilter = ({ filter: _, ...request }: Record<string, unknown>): Record<string, unknown> => request;

export const MailView = ({ viewName, close }: MailViewProps) => {
  const { value } = useFetch('notifications', (signal) => api.listNotifications({}, { signal }));
  // The state of the page when the dialog was opened.
  const [{ reports, view }] = useState(() => ({ reports: listReports().filter(isMailed), view: readCurrentView() }));
  const [notificationName, setName] = useState(viewName);
  const [choice, setChoice] = useState<Choice>('week');
  const [settings, setSettings] = useState(defaults);
  const [recipient, setRecipient] = useState<readonly string[]>([]);
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    readMembers().catch(() => {});
  }, []);
  const isDigest = choice === 'day' || choice === 'week';
  const totals = reports.filter(({ operation }) => operation === 'reportTotals').slice(0, 1);
  const mailed = isDigest ? reports : totals;
  const submit = async () => {
    setBusy(true);
    const report = mailed.map(({ title, operation, request }) => ({
      title,
      operation,
      request: choice === 'silence' ? withoutFilter({ ...request }) : { ...request },
    }));
    const chosen = isOwner.value ? { recipient } : {};
    const fields = { notificationName, ...toSettings(choice, settings), ...view, report, ...chosen };
    const failure = await problemOf(api.createNotification(fields as NewNotification));
    setBusy(false);
    if (failure) return setProblem(failure);
    close();
    show({ text: `Created “${notificationName.trim()}”. It is listed in Settings › Mails.` });
  };
  return (
    <DialogForm
      title="Mail this view"
      close={close}
      action="Create"
      submit={submit}
      problem={problem}
      isDisabled={isBusy || value?.mail !== true || mailed.length === 0}
    >
      {value?.mail === false && <NoMail />}
      <Field label="Name" hint="The subject of the mails.">
        {(attributes) => (
          <input
            {...attributes}
            required
            maxLength={255}
            autocomplete="off"
            value={notificationName}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        )}
      </Field>
      <fieldset class="kinds">
        <legend>Send a mail</legend>
        {(Object.keys(choices) as Choice[]).map((each) => (
          <label key={each} class="choice-line">
            <input type="radio" name="choice" checked={choice === each} onChange={() => setChoice(each)} />
            <span>{choices[each]}</span>
          </label>
        ))}
      </fieldset>
      <SettingFields
        choice={choice}
        settings={settings}
        set={(changed) => setSettings((before) => ({ ...before, ...changed }))}
      />
      {isOwner.value ? (
        <Recipients chosen={recipient} change={setRecipient} />
      ) : (
        <p class="soft">It is sent to you. Others can subscribe in Settings › Mails.</p>
      )}
      <p class="soft">
        {mailed.length === 0
          ? 'This page has nothing to mail.'
          : `${isDigest ? 'It shows' : 'It is about'}: ${mailed.map(({ title }) => title).join(', ')}. `}
        {conditions.value.length > 0 &&
          (choice === 'silence'
            ? 'The filter of this page does not apply.'
            : `Only data that matches “${conditions.value.map(describeCondition).join(' and ')}” is counted.`)}
      </p>
    </DialogForm>
  );
};
