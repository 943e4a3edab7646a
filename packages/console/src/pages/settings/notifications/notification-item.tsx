/** A digest or alert of the list: when it is sent, to whom, and its actions. */
import { useState } from 'preact/hooks';
import { api, problemOf } from '../../../api.ts';
import { DialogForm } from '../../../parts/dialog-form.tsx';
import { act } from '../../../parts/notices.tsx';
import { Badge, RelativeTime, Time } from '../../../parts/small.tsx';
import { canEdit, isOwner } from '../../../reading/account.ts';
import { formatWhole } from '../../../reading/format.ts';
import { nameOfMember } from '../../../reading/member-names.ts';
import { hrefOfView } from '../../../reading/views.ts';
import { attempt } from '../../../session.ts';
import { describeNotification, type Notification } from './notification.ts';
import { Recipients } from './recipients.tsx';

interface NotificationProps {
  readonly of: Notification;
  readonly reload: () => void;
}

const StateBadge = ({ of: { state, activeSinceTime } }: { readonly of: Notification }) => {
  if (state === 'paused') return <Badge>paused</Badge>;
  return activeSinceTime ? <Badge tone="bad">alert</Badge> : <Badge tone="good">active</Badge>;
};

const describeRecipients = ({ recipient }: Notification): string => {
  if (recipient.length === 0) return 'No recipients.';
  const nameOf = ({ memberID, confirmed, self }: Notification['recipient'][number]) =>
    (self ? 'you' : (nameOfMember(memberID) ?? 'a member')) + (confirmed ? '' : ' (after confirming the address)');
  return `Sent to ${recipient.map(nameOf).join(', ')}.`;
};

const State = ({ of }: { readonly of: Notification }) => {
  const { kind, dueTime, activeSinceTime, waiting, lastSentTime, lastFailureTime, lastFailure } = of;
  const hasFailed = lastFailureTime !== undefined && lastFailureTime > (lastSentTime ?? '');
  return (
    <p>
      {activeSinceTime && (
        <>
          The condition holds since <Time time={activeSinceTime} form="long" />.{' '}
        </>
      )}
      {kind === 'digest' && dueTime && (
        <>
          Next mail: <Time time={dueTime} form="long" />.{' '}
        </>
      )}
      {waiting > 0 && `${formatWhole(waiting)} ${waiting === 1 ? 'mail' : 'mails'} to send. `}
      <span class="soft">
        {lastSentTime ? (
          <>
            Last sent <RelativeTime time={lastSentTime} />.
          </>
        ) : (
          'Nothing sent yet.'
        )}
        {hasFailed && (
          <>
            {' '}
            Last failure <RelativeTime time={lastFailureTime} />: {lastFailure}.
          </>
        )}
      </span>
    </p>
  );
};

type DialogProps = NotificationProps & { readonly close: () => void };

const RecipientsDialog = ({ of, reload, close }: DialogProps) => {
  const { notificationID, notificationName } = of;
  const [recipient, setRecipient] = useState<readonly string[]>(of.recipient.map(({ memberID }) => memberID));
  const [problem, setProblem] = useState('');
  const save = async () => {
    const failure = await problemOf(api.updateNotification({ notificationID, recipient }));
    if (failure) return setProblem(failure);
    close();
    reload();
  };
  return (
    <DialogForm title={`Recipients of ${notificationName}`} close={close} action="Save" submit={save} problem={problem}>
      <Recipients chosen={recipient} change={setRecipient} />
    </DialogForm>
  );
};

const RemoveDialog = ({ of: { notificationID, notificationName }, reload, close }: DialogProps) => {
  const remove = () => {
    close();
    return act(() => api.deleteNotification({ notificationID }), {
      done: `Removed ${notificationName}.`,
      refresh: reload,
    });
  };
  return (
    <DialogForm title={`Remove ${notificationName}?`} close={close} action="Remove" submit={remove} isDanger>
      <p>
        No more mails are sent. <strong>This cannot be undone.</strong> To stop the mails for a while, pause them
        instead.
      </p>
    </DialogForm>
  );
};

const dialogs = { recipients: RecipientsDialog, remove: RemoveDialog };

export const NotificationItem = ({ of, reload }: NotificationProps) => {
  const { notificationID, notificationName, viewPage, viewQuery, title, state, kind } = of;
  const [dialog, setDialog] = useState<keyof typeof dialogs>();
  const Dialog = dialog && dialogs[dialog];
  const isSubscribed = of.recipient.some(({ self }) => self);
  const isActive = state === 'active';
  const change = isActive ? 'Pause' : 'Resume';
  const opener = (name: keyof typeof dialogs, label: string, action: string) => (
    <button
      type="button"
      class="quiet"
      aria-haspopup="dialog"
      aria-label={`${action} ${notificationName}`}
      onClick={() => setDialog(name)}
    >
      {label}
    </button>
  );
  const subscribe = () =>
    act(
      async () => {
        const { problem } = await attempt('subscribe', { notificationID, subscribed: !isSubscribed });
        if (problem) throw new Error(problem);
      },
      {
        done: isSubscribed ? `You no longer receive ${notificationName}.` : `You receive ${notificationName}.`,
        refresh: reload,
      },
    );
  const setState = () =>
    act(() => api.updateNotification({ notificationID, state: isActive ? 'paused' : 'active' }), {
      done: isActive ? `Paused ${notificationName}.` : `Resumed ${notificationName}.`,
      refresh: reload,
    });
  return (
    <li>
      <div class="item-head">
        <strong>
          <a href={hrefOfView({ viewPage, viewQuery })}>{notificationName}</a>
        </strong>
        <StateBadge of={of} />
      </div>
      <p class="soft">
        {describeNotification(of)}
        {kind === 'digest' && `: ${title.join(', ')}`}. {describeRecipients(of)}
      </p>
      <State of={of} />
      <p class="item-actions">
        <button
          type="button"
          aria-label={`${isSubscribed ? 'Unsubscribe from' : 'Subscribe to'} ${notificationName}`}
          onClick={subscribe}
        >
          {isSubscribed ? 'Unsubscribe' : 'Subscribe'}
        </button>
        {canEdit.value && (
          <>
            <button type="button" aria-label={`${change} ${notificationName}`} onClick={setState}>
              {change}
            </button>
            {isOwner.value && opener('recipients', 'Recipients…', 'Recipients of')}
            {opener('remove', 'Remove…', 'Remove')}
          </>
        )}
      </p>
      {Dialog && <Dialog of={of} reload={reload} close={() => setDialog(undefined)} />}
    </li>
  );
};
