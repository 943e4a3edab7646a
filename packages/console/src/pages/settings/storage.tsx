/** What the account stores, for how long, and what the operator of the server needs to know. For owners. */
import type { AnswerFor } from '@firsthand/client';
import { api } from '../../api.ts';
import { Answered, Card } from '../../parts/card.tsx';
import { Ago } from '../../parts/small.tsx';
import { account, isOwner } from '../../reading/account.ts';
import { type Answer, useAnswer } from '../../reading/answer.ts';
import { formatLength, formatWhole } from '../../reading/format.ts';
import { OwnersOnly } from './owners-only.tsx';

const daySeconds = 86_400;

type Service = AnswerFor<'getService'>;

const Stored = ({ service }: { readonly service: Service | undefined }) => {
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
    <Card title="What is stored">
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
            <dd>{service.retentionDays === 0 ? 'Unlimited' : `${formatWhole(service.retentionDays)} days`}</dd>
          </div>
        )}
      </dl>
      <p class="soft">
        The operator sets how long events are stored: <a href="../docs/privacy">RETENTION_DAYS</a>.
      </p>
    </Card>
  );
};

const Operation = ({ answer }: { readonly answer: Answer<Service> }) => (
  <Card title="For the operator of the server">
    <Answered answer={answer} lines={5}>
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
                    'There is none yet.'
                  ) : (
                    <>
                      Newest: <Ago time={backupTime} />
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
                ? 'A proxy that TRUST_PROXY does not list forwards requests: all visitors share one rate limit.'
                : 'No unlisted proxy detected.'}
            </dd>
          </div>
          <div>
            <dt>Version</dt>
            <dd>{version}</dd>
          </div>
        </dl>
      )}
    </Answered>
  </Card>
);

const Parts = () => {
  const answer = useAnswer('service', (signal) => api.getService({}, { signal }));
  return (
    <div class="settings settings-columns">
      <Stored service={answer.value} />
      <Operation answer={answer} />
    </div>
  );
};

export const Storage = () =>
  isOwner.value ? <Parts /> : <OwnersOnly title="Storage" what="what is stored, and its backups" />;
