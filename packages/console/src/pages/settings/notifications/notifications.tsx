/** The digests and alerts of the account. */
import { api } from '../../../api.ts';
import { Card, ResponseView } from '../../../parts/card.tsx';
import { EmptyState } from '../../../parts/small.tsx';
import { formatWhole } from '../../../reading/format.ts';
import { useFetch } from '../../../reading/use-fetch.ts';
import { NoMail } from './no-mail.tsx';
import { NotificationItem } from './notification-item.tsx';

const pollMs = 10_000;

export const Notifications = () => {
  const response = useFetch('notifications', (signal) => api.listNotifications({}, { signal }), { everyMs: pollMs });
  const { value, reload } = response;
  return (
    <div class="settings">
      {value?.mail === false && <NoMail />}
      <Card title={`Digests and alerts${value ? ` · ${formatWhole(value.notification.length)}` : ''}`} class="list">
        <ResponseView response={response} lines={4}>
          {({ notification }) =>
            notification.length === 0 ? (
              <EmptyState title="No digests or alerts">
                <p class="soft">To create one, choose Views › Mail this view on Overview or Events.</p>
              </EmptyState>
            ) : (
              <ul class="items">
                {notification.map((each) => (
                  <NotificationItem key={each.notificationID} of={each} reload={reload} />
                ))}
              </ul>
            )
          }
        </ResponseView>
      </Card>
    </div>
  );
};
