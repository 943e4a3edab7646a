/** The dialog that creates or changes a webhook. */
import { FirsthandError } from '@firsthand/client';
import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { api, messageOf } from '../../../api.ts';
import { DialogForm } from '../../../parts/dialog-form.tsx';
import { Field } from '../../../parts/field.tsx';
import { account } from '../../../reading/account.ts';
import { useFetch } from '../../../reading/use-fetch.ts';
import { isAudienceType, typeLabels, type Webhook, type WebhookType } from './webhook.ts';
import type { NewSecret } from './webhook-secret.tsx';

const types = Object.keys(typeLabels) as WebhookType[];
const payloads = {
  thin: ['IDs only', 'Names, addresses and attributes stay on this server. The receiver can read them with the API.'],
  full: ['The whole event or contact', 'Includes names, addresses and attributes.'],
} as const;

const toNames = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

interface EventNamesProps {
  readonly text: string;
  readonly problem: string | undefined;
  readonly change: (text: string) => void;
}

const EventNames = ({ text, problem, change }: EventNamesProps) => {
  const chosen = toNames(text);
  const others = (account.value?.event ?? [])
    .filter(({ mergedInto, eventName }) => mergedInto === undefined && !chosen.includes(eventName))
    .map(({ eventName }) => eventName);
  return (
    <>
      <Field label="Only these events" hint="One name per line. Empty: all events." problem={problem}>
        {(attributes) => (
          <textarea {...attributes} rows={3} value={text} onInput={(event) => change(event.currentTarget.value)} />
        )}
      </Field>
      {others.length > 0 && (
        <select
          aria-label="Add an event from the catalogue"
          value=""
          onChange={(event) => change([...chosen, event.currentTarget.value].join('\n'))}
        >
          <option value="">Add an event…</option>
          {others.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      )}
    </>
  );
};

interface AttributeProps {
  readonly attrID: string;
  readonly attrValue: string;
  readonly problemOf: (name: 'attrID' | 'attrValue') => string | undefined;
  readonly change: (changed: { readonly attrID?: string; readonly attrValue?: string }) => void;
}

const Attribute = ({ attrID, attrValue, problemOf, change }: AttributeProps) => {
  const listed = (account.value?.attr ?? []).filter(({ mergedInto }) => mergedInto === undefined);
  const isListed = attrID === '' || listed.some((attr) => attr.attrID === attrID);
  return (
    <>
      <Field label="Only with the attribute" problem={problemOf('attrID')}>
        {(attributes) => (
          <select
            {...attributes}
            value={attrID}
            onChange={({ currentTarget: { value } }) =>
              change(value ? { attrID: value } : { attrID: '', attrValue: '' })
            }
          >
            <option value="">Any</option>
            {!isListed && <option>{attrID}</option>}
            {listed.map((attr) => (
              <option key={attr.attrID} value={attr.attrID}>
                {attr.attrName || attr.attrID}
              </option>
            ))}
          </select>
        )}
      </Field>
      {attrID && (
        <Field label="Only with the value" hint="Empty: any value." problem={problemOf('attrValue')}>
          {(attributes) => (
            <input
              {...attributes}
              type="text"
              value={attrValue}
              onInput={(event) => change({ attrValue: event.currentTarget.value })}
            />
          )}
        </Field>
      )}
    </>
  );
};

interface SegmentsProps {
  readonly chosen: readonly string[];
  readonly problem: string | undefined;
  readonly change: (chosen: string[]) => void;
}

const Segments = ({ chosen, problem, change }: SegmentsProps) => {
  const { value } = useFetch('segments', (signal) => api.listSegments({}, { signal }));
  const names = new Set([...(value?.segment ?? []).map(({ segmentName }) => segmentName), ...chosen]);
  return (
    <fieldset class="kinds">
      <legend>Of these segments</legend>
      {value && names.size === 0 && <p class="soft">Save a filter as a segment first.</p>}
      {[...names].map((name) => (
        <label key={name} class="choice-line">
          <input
            type="checkbox"
            checked={chosen.includes(name)}
            onChange={({ currentTarget: { checked } }) =>
              change([...chosen.filter((one) => one !== name), ...(checked ? [name] : [])])
            }
          />
          <span>{name}</span>
        </label>
      ))}
      {problem && (
        <p class="field-problem" role="alert">
          {problem}
        </p>
      )}
    </fieldset>
  );
};

type Values = Pick<
  Webhook,
  'url' | 'description' | 'type' | 'eventName' | 'attrID' | 'attrValue' | 'segmentName' | 'payload'
>;
const blank: Values = {
  ...{ url: '', description: '', type: [], eventName: [], attrID: '', attrValue: '', segmentName: [] },
  payload: 'thin',
};

/** Only the fields that differ, so that the form does not undo another owner's changes. Null clears a field. */
const changesOf = (before: Values, values: Values): Partial<Values> =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof Values]))
      .map(([name, value]) => [name, value === '' ? null : value]),
  );

interface WebhookFormProps {
  /** Absent: creates a webhook. */
  readonly webhook?: Webhook;
  readonly close: () => void;
  readonly reload: () => void;
  readonly onSecret: (secret: NewSecret) => void;
}

export const WebhookForm = ({ webhook, close, reload, onSecret }: WebhookFormProps) => {
  // The list is polled, so `webhook` may change while the dialog is open.
  const [before] = useState<Values>(webhook ?? blank);
  const [values, setValues] = useState(before);
  const [eventText, setEventText] = useState(values.eventName.join('\n'));
  const [problem, setProblem] = useState<{ readonly field: string; readonly text: string }>();
  const [isBusy, setBusy] = useState(false);
  const set = (changed: Partial<Values>) => setValues({ ...values, ...changed });
  const { url, description, type, payload, attrID, attrValue, segmentName } = values;
  /** The error for a field. An error for `eventName[2]` is shown at `eventName`. */
  const problemOf = (name: keyof Values) => (problem?.field.startsWith(name) ? problem.text : undefined);
  const isOfField = problem !== undefined && Object.keys(blank).some((name) => problem.field.startsWith(name));
  const submit = async () => {
    if (type.length === 0) return setProblem({ field: 'type', text: 'Choose at least one.' });
    if (type.some(isAudienceType) && segmentName.length === 0)
      return setProblem({ field: 'segmentName', text: 'Choose at least one segment.' });
    setBusy(true);
    const filled: Values = {
      ...{ url: url.trim(), description: description.trim(), type, payload, attrID, attrValue, segmentName },
      eventName: type.includes('event.logged') ? toNames(eventText) : values.eventName,
    };
    try {
      if (webhook) await api.updateWebhook({ webhookID: webhook.webhookID, ...changesOf(before, filled) });
      else onSecret({ ...filled, ...(await api.createWebhook(filled)) });
      close();
      reload();
    } catch (error) {
      setProblem({ field: (error instanceof FirsthandError && error.field) || '', text: messageOf(error) });
      setBusy(false);
    }
  };
  const typeProblem = problemOf('type');
  return (
    <DialogForm
      title={webhook ? 'Edit the webhook' : 'Add a webhook'}
      close={close}
      action={webhook ? 'Save' : 'Add'}
      submit={submit}
      problem={isOfField ? '' : (problem?.text ?? '')}
      isDisabled={isBusy}
    >
      <Field label="URL" hint="Where messages are sent, by POST. Must begin with https." problem={problemOf('url')}>
        {(attributes) => (
          <input
            {...attributes}
            type="text"
            inputMode="url"
            required
            autocomplete="off"
            placeholder="https://crm.example/hooks/firsthand"
            value={url}
            onInput={(event) => set({ url: event.currentTarget.value })}
          />
        )}
      </Field>
      <Field label="Description" hint="What receives the messages." problem={problemOf('description')}>
        {(attributes) => (
          <input
            {...attributes}
            type="text"
            maxLength={255}
            placeholder="Sales CRM"
            value={description}
            onInput={(event) => set({ description: event.currentTarget.value })}
          />
        )}
      </Field>
      <fieldset class="kinds">
        <legend>Send a message when</legend>
        {types.map((each) => (
          <Fragment key={each}>
            <label class="choice-line">
              <input
                type="checkbox"
                checked={type.includes(each)}
                onChange={({ currentTarget: { checked } }) =>
                  set({ type: types.filter((one) => (one === each ? checked : type.includes(one))) })
                }
              />
              <span>
                {typeLabels[each]}
                <small class="soft">{each}</small>
              </span>
            </label>
            {each === 'event.logged' && type.includes(each) && (
              <>
                <EventNames text={eventText} problem={problemOf('eventName')} change={setEventText} />
                <Attribute attrID={attrID} attrValue={attrValue} problemOf={problemOf} change={set} />
              </>
            )}
          </Fragment>
        ))}
        {type.some(isAudienceType) && (
          <Segments
            chosen={segmentName}
            problem={problemOf('segmentName')}
            change={(chosen) => set({ segmentName: chosen })}
          />
        )}
        {typeProblem && (
          <p class="field-problem" role="alert">
            {typeProblem}
          </p>
        )}
      </fieldset>
      <fieldset class="kinds">
        <legend>Messages contain</legend>
        {(Object.keys(payloads) as (keyof typeof payloads)[]).map((each) => (
          <label key={each} class="choice-line">
            <input type="radio" name="payload" checked={payload === each} onChange={() => set({ payload: each })} />
            <span>
              {payloads[each][0]}
              <small class="soft">{payloads[each][1]}</small>
            </span>
          </label>
        ))}
      </fieldset>
    </DialogForm>
  );
};
