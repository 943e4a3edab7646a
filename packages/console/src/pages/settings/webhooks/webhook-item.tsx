/** A webhook in the list: what it sends, its state in words, its actions and its messages. */
import type { ResponseFor } from '@firsthand/client';
import { useState } from 'preact/hooks';
import { api, messageOf } from '../../../api.ts';
import { DialogForm } from '../../../parts/dialog-form.tsx';
import { act } from '../../../parts/notices.tsx';
import { Badge, Problem, RelativeTime, Time } from '../../../parts/small.tsx';
import { formatWhole } from '../../../reading/format.ts';
import { Deliveries } from './deliveries.tsx';
import { audienceProblems, describeTypes, disabledReasons, nameOfWebhook, quote, type Webhook } from './webhook.ts';
import { WebhookForm } from './webhook-form.tsx';
import type { NewSecret } from './webhook-secret.tsx';

interface WebhookProps {
  readonly webhook: Webhook;
  readonly reload: () => void;
}

interface WebhookItemProps extends WebhookProps {
  readonly onSecret: (secret: NewSecret) => void;
}

const StateBadge = ({ webhook: { state, waitUntilTime } }: { readonly webhook: Webhook }) => {
  if (state === 'disabled') return <Badge tone="bad">disabled</Badge>;
  if (state === 'paused') return <Badge>paused</Badge>;
  return waitUntilTime ? <Badge tone="open">waiting</Badge> : <Badge tone="good">active</Badge>;
};

const State = ({ webhook }: { readonly webhook: Webhook }) => {
  const { state, disabledReason, waitUntilTime, retrying, lastSuccessTime, lastFailureTime, lastFailure, skipped } =
    webhook;
  return (
    <p>
      {disabledReason && `${disabledReasons[disabledReason]} `}
      {state !== 'active' && 'New messages are sent when you resume. '}
      {state === 'active' && waitUntilTime && (
        <>
          Waiting until <Time time={waitUntilTime} /> because messages failed.{' '}
        </>
      )}
      {skipped &&
        `${formatWhole(skipped.events)} ${skipped.events === 1 ? 'event was' : 'events were'} deleted by the retention period before they could be sent (sequences ${skipped.fromSequence} to ${skipped.throughSequence}). `}
      {retrying > 0 && `${formatWhole(retrying)} ${retrying === 1 ? 'message' : 'messages'} to retry. `}
      <span class="soft">
        {lastSuccessTime ? (
          <>
            Last success <RelativeTime time={lastSuccessTime} />.
          </>
        ) : (
          'Nothing delivered yet.'
        )}
        {lastFailureTime && (
          <>
            {' '}
            Last failure <RelativeTime time={lastFailureTime} />: {lastFailure}.
          </>
        )}
      </span>
    </p>
  );
};

const Audiences = ({ webhook }: { readonly webhook: Webhook }) => (
  <>
    {webhook.audience.map(({ segmentName, contacts, comparedTime, problem }) => (
      <p key={segmentName}>
        Segment “{segmentName}” {problem && `${audienceProblems[problem]}. `}
        {!problem && comparedTime && `had ${formatWhole(contacts)} ${contacts === 1 ? 'contact' : 'contacts'} `}
        {!comparedTime && !problem && 'will be compared within a few minutes.'}
        {comparedTime && (
          <span class="soft">
            {problem && 'Last compared '}
            <RelativeTime time={comparedTime} />.
          </span>
        )}
      </p>
    ))}
  </>
);

type TestResult = ResponseFor<'testWebhook'> | { readonly problem: string };

const Test = ({ result }: { readonly result: TestResult }) => {
  if ('problem' in result) return <Problem text={result.problem} />;
  const { delivered, httpStatus, error, responseText } = result;
  const beginning = responseText && ` The response begins with “${quote(responseText)}”.`;
  return delivered ? (
    <p role="status">The endpoint accepted the test message (HTTP {httpStatus}).</p>
  ) : (
    <Problem text={`The test message failed: ${error}.${beginning}`} />
  );
};

const RemoveDialog = ({ webhook, reload, close }: WebhookProps & { readonly close: () => void }) => {
  const name = nameOfWebhook(webhook);
  const remove = () => {
    close();
    return act(() => api.deleteWebhook({ webhookID: webhook.webhookID }), {
      done: `Removed ${name}.`,
      refresh: reload,
    });
  };
  return (
    <DialogForm title={`Remove ${name}?`} close={close} action="Remove webhook" submit={remove} isDanger>
      <p>
        Messages that are not delivered yet are discarded, and the secret becomes invalid.{' '}
        <strong>This cannot be undone.</strong> To stop the messages for a while, pause the webhook instead.
      </p>
    </DialogForm>
  );
};

const RotateDialog = ({ webhook, reload, onSecret, close }: WebhookItemProps & { readonly close: () => void }) => {
  const { webhookID } = webhook;
  const rotate = () => {
    close();
    const rotated = async () => onSecret({ ...webhook, ...(await api.rotateWebhookSecret({ webhookID })) });
    return act(rotated, { done: 'The new secret is at the top of the page.', refresh: reload });
  };
  return (
    <DialogForm
      title={`New secret for ${nameOfWebhook(webhook)}?`}
      close={close}
      action="Create a new secret"
      submit={rotate}
    >
      <p>
        For 24 hours, messages are signed with both the old and the new secret. Enter the new secret in the receiver
        within this time. Then the old one becomes invalid.
      </p>
    </DialogForm>
  );
};

const dialogs = {
  edit: { label: 'Edit…', action: 'Edit', Dialog: WebhookForm },
  rotate: { label: 'New secret…', action: 'New secret for', Dialog: RotateDialog },
  remove: { label: 'Remove…', action: 'Remove', Dialog: RemoveDialog },
};

export const WebhookItem = (props: WebhookItemProps) => {
  const { webhook, reload } = props;
  const { webhookID, url, description, state, payload, previousSecretUntilTime } = webhook;
  const name = nameOfWebhook(webhook);
  const [dialog, setDialog] = useState<keyof typeof dialogs>();
  const [test, setTest] = useState<TestResult>();
  const [isTesting, setTesting] = useState(false);
  const [isListing, setListing] = useState(false);
  const Dialog = dialog && dialogs[dialog].Dialog;
  const isActive = state === 'active';
  const change = isActive ? 'Pause' : 'Resume';
  const sendTest = async () => {
    setTesting(true);
    setTest(undefined);
    setTest(await api.testWebhook({ webhookID }).catch((error) => ({ problem: messageOf(error) })));
    setTesting(false);
  };
  const setState = (next: 'active' | 'paused') =>
    act(() => api.updateWebhook({ webhookID, state: next }), {
      done: next === 'paused' ? `Paused ${name}.` : `Resumed ${name}. It continues where it stopped.`,
      refresh: reload,
    });
  return (
    <li>
      <div class="item-head">
        <strong>{name}</strong>
        <StateBadge webhook={webhook} />
        {description && <code>{url}</code>}
      </div>
      <p class="soft">
        {describeTypes(webhook).join(' · ')}. Messages contain{' '}
        {payload === 'thin' ? 'IDs only' : 'the whole event or contact'}.
      </p>
      <State webhook={webhook} />
      <Audiences webhook={webhook} />
      {previousSecretUntilTime && (
        <p class="soft">
          Messages are signed with both secrets until <Time time={previousSecretUntilTime} form="long" />.
        </p>
      )}
      <p class="item-actions">
        <button type="button" disabled={isTesting} aria-label={`Send a test to ${name}`} onClick={sendTest}>
          {isTesting ? 'Sending…' : 'Send a test'}
        </button>
        <button type="button" aria-label={`${change} ${name}`} onClick={() => setState(isActive ? 'paused' : 'active')}>
          {change}
        </button>
        {(Object.keys(dialogs) as (keyof typeof dialogs)[]).map((each) => (
          <button
            key={each}
            type="button"
            class="quiet"
            aria-haspopup="dialog"
            aria-label={`${dialogs[each].action} ${name}`}
            onClick={() => setDialog(each)}
          >
            {dialogs[each].label}
          </button>
        ))}
      </p>
      {test && <Test result={test} />}
      <details onToggle={(event) => setListing(event.currentTarget.open)}>
        <summary>Messages</summary>
        {isListing && <Deliveries webhook={webhook} />}
      </details>
      {Dialog && <Dialog {...props} close={() => setDialog(undefined)} />}
    </li>
  );
};
