/** Stored data, retention, and status for the server's operator. For owners. */
import type { ResponseFor } from '@firsthand/client';
import { api } from '../../api.ts';
import { Card, ResponseView } from '../../parts/card.tsx';
import { RelativeTime } from '../../parts/small.tsx';
import { account, isOwner } from '../../reading/account.ts';
import { formatLength, formatWhole } from '../../reading/format.ts';
import { type FetchState, useFetch } from '../../reading/use-fetch.ts';
import { OwnersOnly } from './owners-only.tsx';

const daySeconds = 86_400;

type Service = ResponseFor<'getService'>;

const StoredData = ({ service }: { readonly service: Service | undefined }) => {
  const shown = account.value;
  if (!shown) return null;
  const { contacts, users, events, storedBytes } = shown.usage;
  const quota = shown.limits.accountBytes;
  const toMB = (bytes: number): string => `${formatWhole(Math.ceil(bytes / 1_000_000))} MB`;
  const rows = [
    ['Events', formatWhole(events)],
    ['Contacts', formatWhole(contacts)],
    ['Browsers', formatWhole(users)],
    ['Size', typeof quota === 'number' ? `${toMB(storedBytes)} of ${toMB(quota)}` : toMB(storedBytes)],
  ] as const;
  return (
    <Card title="Stored data">
      <dl class="facts stored">
        {rows.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
        {service && (
          <div>
            <dt>Retention</dt>
            <dd>
              {service.retentionDays === 0
                ? 'Unlimited'
                : `${formatWhole(service.retentionDays)} ${service.retentionDays === 1 ? 'day' : 'days'}`}
            </dd>
          </div>
        )}
      </dl>
      <p class="soft">
        The server’s operator sets how long events are stored: <a href="../docs/privacy">RETENTION_DAYS</a>.
      </p>
    </Card>
  );
};

const OperatorInfo = ({ response }: { readonly response: FetchState<Service> }) => (
  <Card title="For the server’s operator">
    <ResponseView response={response} lines={5}>
      {({ version, backupSeconds, backupTime, unknownProxy }) => (
        <dl class="facts">
          <div>
            <dt>Backups</dt>
            <dd>
              {backupSeconds === 0 ? (
                <>
                  Automatic backups are off. <a href="../docs/backups">Turn them on, or use cron</a>
                </>
              ) : (
                <>
                  Every {backupSeconds === daySeconds ? 'day' : formatLength(backupSeconds * 1_000)}.{' '}
                  {backupTime === undefined ? (
                    'No backups yet.'
                  ) : (
                    <>
                      Latest: <RelativeTime time={backupTime} />
                    </>
                  )}
                </>
              )}
            </dd>
          </div>
          <div>
            <dt>Proxy</dt>
            <dd>
              {unknownProxy
                ? 'Requests come through a proxy that is not listed in TRUST_PROXY, so all visitors share one rate limit.'
                : 'No unlisted proxy detected.'}
            </dd>
          </div>
          <div>
            <dt>Version</dt>
            <dd>{version}</dd>
          </div>
        </dl>
      )}
    </ResponseView>
  </Card>
);

const Sections = () => {
  const response = useFetch('service', (signal) => api.getService({}, { signal }));
  return (
    <div class="settings settings-columns">
      <StoredData service={response.value} />
      <OperatorInfo response={response} />
    </div>
  );
};

export const Storage = () =>
  isOwner.value ? <Sections /> : <OwnersOnly title="Storage" subject="storage and backups" />;
