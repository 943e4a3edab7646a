/** The account's webhooks. */
import { useState } from 'preact/hooks';
import { api } from '../../../api.ts';
import { Card, ResponseView } from '../../../parts/card.tsx';
import { EmptyState } from '../../../parts/small.tsx';
import { formatWhole } from '../../../reading/format.ts';
import { useFetch } from '../../../reading/use-fetch.ts';
import { WebhookForm } from './webhook-form.tsx';
import { WebhookItem } from './webhook-item.tsx';
import { type NewSecret, WebhookSecret } from './webhook-secret.tsx';

const pollMs = 3_000;

export const Webhooks = () => {
  const response = useFetch('webhooks', (signal) => api.listWebhooks({}, { signal }), { everyMs: pollMs });
  const [newSecret, setNewSecret] = useState<NewSecret>();
  const [isAdding, setAdding] = useState(false);
  const { value, reload } = response;
  const actions = { reload, onSecret: setNewSecret };
  return (
    <div class="settings">
      {newSecret && <WebhookSecret created={newSecret} close={() => setNewSecret(undefined)} />}
      <Card
        title={`Webhooks${value ? ` · ${formatWhole(value.webhook.length)}` : ''}`}
        tools={
          <button type="button" aria-haspopup="dialog" onClick={() => setAdding(true)}>
            Add a webhook…
          </button>
        }
        class="list"
      >
        <ResponseView response={response} lines={4}>
          {({ webhook }) =>
            webhook.length === 0 ? (
              <EmptyState title="No webhooks">
                <p class="soft">
                  A webhook sends events and contact changes to your own server or another service, as they happen:{' '}
                  <a href="../docs/webhooks">How to receive them</a>.
                </p>
              </EmptyState>
            ) : (
              <ul class="items">
                {webhook.map((each) => (
                  <WebhookItem key={each.webhookID} webhook={each} {...actions} />
                ))}
              </ul>
            )
          }
        </ResponseView>
      </Card>
      {isAdding && <WebhookForm {...actions} close={() => setAdding(false)} />}
    </div>
  );
};
