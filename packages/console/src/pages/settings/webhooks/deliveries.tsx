/** A webhook's recent or failed messages, with buttons to resend them. */
import { useState } from 'preact/hooks';
import { api } from '../../../api.ts';
import { ResponseView } from '../../../parts/card.tsx';
import { act } from '../../../parts/notices.tsx';
import { Badge, EmptyState, RelativeTime, Time } from '../../../parts/small.tsx';
import { Table } from '../../../parts/table.tsx';
import { formatWhole } from '../../../reading/format.ts';
import { useFetch } from '../../../reading/use-fetch.ts';
import { readFailed, readRecent, resendFailed } from './deliveries.ts';
import { type Delivery, quote, type Webhook } from './webhook.ts';

const states = {
  waiting: ['plain', 'not sent yet'],
  delivered: ['good', 'delivered'],
  retrying: ['open', 'retrying'],
  failed: ['bad', 'failed'],
} as const;

const State = ({ delivery: { state, attempts } }: { readonly delivery: Delivery }) => {
  const [tone, label] = states[state];
  // A message that was resent has no failed attempts.
  return <Badge tone={tone}>{state === 'retrying' && attempts === 0 ? 'resending' : label}</Badge>;
};

const Message = ({ delivery: { type, payload } }: { readonly delivery: Delivery }) => {
  const { timestamp, data } = payload as { timestamp: string; data: { eventName?: string } };
  return (
    <>
      {type}
      {data.eventName && `: ${data.eventName}`}
      <small>
        <Time time={timestamp} form="long" />
      </small>
      <details>
        <summary>Body</summary>
        <pre>
          <code>{JSON.stringify(payload, undefined, 2)}</code>
        </pre>
      </details>
    </>
  );
};

const LastResponse = ({ delivery: { error, responseText } }: { readonly delivery: Delivery }) => (
  <>
    {error}
    {responseText && <p class="soft">{quote(responseText)}</p>}
  </>
);

/** A webhook that is waiting after failures sends nothing until the wait is over. */
const NextAttempt = ({ delivery, webhook }: { readonly delivery: Delivery; readonly webhook: Webhook }) => {
  if (delivery.nextAttemptTime === undefined) return null;
  if (webhook.state !== 'active') return <>when the webhook is resumed</>;
  const [time] = [delivery.nextAttemptTime, webhook.waitUntilTime ?? ''].toSorted().slice(-1) as [string];
  return Date.parse(time) < Date.now() + 60_000 ? <>within a minute</> : <RelativeTime time={time} />;
};

const pollMs = 3_000;
const numbers = ['Failed attempts'];

export const Deliveries = ({ webhook }: { readonly webhook: Webhook }) => {
  const { webhookID, retrying } = webhook;
  const [onlyFailed, setOnlyFailed] = useState(retrying > 0);
  const [isBusy, setBusy] = useState(false);
  const read = onlyFailed ? readFailed : readRecent;
  const response = useFetch(`messages ${webhookID} ${onlyFailed}`, (signal) => read(webhook, signal), {
    everyMs: pollMs,
  });
  const resend = async (send: () => Promise<number>) => {
    setBusy(true);
    await act(send, (messages) => ({
      done:
        messages === 1
          ? 'One message will be sent again, with the same ID.'
          : `${formatWhole(messages)} messages will be sent again, with the same IDs.`,
      refresh: response.reload,
    }));
    setBusy(false);
  };
  const resendOne = async (sequence: number) => (await api.resendWebhook({ webhookID, sequence })).messages;
  const rowOf = (delivery: Delivery) => {
    const { messageID, sequence, type, state, attempts } = delivery;
    return {
      key: messageID,
      cells: [
        <Message key="message" delivery={delivery} />,
        <State key="state" delivery={delivery} />,
        attempts > 0 && formatWhole(attempts),
        <LastResponse key="response" delivery={delivery} />,
        <NextAttempt key="next" delivery={delivery} webhook={webhook} />,
        state !== 'waiting' && (
          <button
            key="resend"
            type="button"
            class="quiet"
            disabled={isBusy}
            aria-label={`Resend ${type} ${sequence}`}
            onClick={() => resend(() => resendOne(sequence))}
          >
            Resend
          </button>
        ),
      ],
    };
  };
  return (
    <>
      <p class="item-actions">
        <label>
          <input
            type="checkbox"
            checked={onlyFailed}
            onChange={(event) => setOnlyFailed(event.currentTarget.checked)}
          />{' '}
          Only failed
        </label>
        {onlyFailed && (
          <button
            type="button"
            disabled={isBusy || !response.value?.length}
            onClick={() => resend(() => resendFailed(webhookID))}
          >
            Resend failed
          </button>
        )}
      </p>
      <ResponseView response={response} lines={3}>
        {(deliveries) =>
          deliveries.length === 0 ? (
            <EmptyState title={onlyFailed ? 'No failed messages' : 'No recent messages'} />
          ) : (
            <Table
              label={onlyFailed ? 'Failed messages, oldest first' : 'Recent messages, newest first'}
              headers={['Message', 'State', ...numbers, 'Last failure', 'Next attempt', '']}
              numbers={numbers}
              rows={deliveries.map(rowOf)}
            />
          )
        }
      </ResponseView>
    </>
  );
};
