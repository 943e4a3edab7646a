/** A new webhook's secret, or an existing webhook's new secret. */
import { SecretCard } from '../../../parts/secret-card.tsx';
import { Time } from '../../../parts/small.tsx';
import { nameOfWebhook, type Webhook } from './webhook.ts';

export interface NewSecret extends Pick<Webhook, 'webhookID' | 'description' | 'url'> {
  readonly secret: string;
  /** When the previous secret expires, after a rotation. */
  readonly previousSecretUntilTime?: string | undefined;
}

export const WebhookSecret = ({ created, close }: { readonly created: NewSecret; readonly close: () => void }) => {
  const { secret, previousSecretUntilTime } = created;
  return (
    <SecretCard title={`Secret of ${nameOfWebhook(created)}`} secret={secret} done="I’ve saved it" close={close}>
      <p>
        <strong>Copy it now. It won’t be shown again.</strong> With this secret, the receiver verifies the signature of
        each message, by any library for Standard Webhooks.
        {previousSecretUntilTime && (
          <>
            {' '}
            Until <Time time={previousSecretUntilTime} form="long" />, messages are signed with both secrets.
          </>
        )}
      </p>
    </SecretCard>
  );
};
