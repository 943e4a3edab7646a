/** What the account stores, how long it is kept, and what the service says of its backups. For owners. */
import { api } from '../../api.ts';
import { Answered, Card } from '../../parts/card.tsx';
import { Ago } from '../../parts/small.tsx';
import { account, isOwner } from '../../reading/account.ts';
import { useAnswer } from '../../reading/answer.ts';
import { formatLength, formatWhole } from '../../reading/format.ts';
import { OwnersOnly } from './owners-only.tsx';

const daySeconds = 86_400;

const Stored = () => {
  const shown = account.value;
  if (!shown) return null;
  const { contacts, users, events, storedBytes } = shown.usage;
  const quota = shown.limits.accountBytes;
  const toMB = (bytes: number): string => `${formatWhole(Math.ceil(bytes / 1_000_000))} MB`;
  const rows = [
    ['Events', formatWhole(events)],
    ['Contacts', formatWhole(contacts)],
    ['Browsers', formatWhole(users)],
    ['About', typeof quota === 'number' ? `${toMB(storedBytes)} of ${toMB(quota)}` : toMB(storedBytes)],
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
      </dl>
    </Card>
  );
};

const Service = () => {
  const answer = useAnswer('service', (signal) => api.getService({}, { signal }));
  return (
    <Card title="The service">
      <Answered answer={answer} lines={5}>
        {({ version, retentionDays, backupSeconds, backupTime, unknownProxy }) => (
          <dl class="facts">
            <div>
              <dt>Events are kept</dt>
              <dd>{retentionDays === 0 ? 'for ever' : `${formatWhole(retentionDays)} days`}</dd>
            </div>
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
};

export const Storage = () =>
  isOwner.value ? (
    <div class="settings settings-columns">
      <Stored />
      <Service />
    </div>
  ) : (
    <OwnersOnly title="Storage" what="what is stored, and its backups" />
  );
