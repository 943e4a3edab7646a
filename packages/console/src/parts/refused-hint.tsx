/** A hint that there are refused requests to fix. Only owners may read them. */
import { hrefOf } from '../address.ts';
import { api } from '../api.ts';
import { isOwner } from '../reading/account.ts';
import { formatWhole } from '../reading/format.ts';
import { useFetch } from '../reading/use-fetch.ts';

const Hint = () => {
  const { value } = useFetch('refused count', (signal) => api.listRefused({ limit: 1 }, { signal }));
  const count = value?.count.listed ?? 0;
  if (count === 0) return null;
  return (
    <p class="refused-hint" role="status">
      Refused requests: {formatWhole(count)}. <a href={hrefOf('settings', { tab: 'refused' })}>See why</a>
    </p>
  );
};

export const RefusedHint = () => (isOwner.value ? <Hint /> : null);
