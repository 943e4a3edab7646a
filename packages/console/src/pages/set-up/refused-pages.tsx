/** Warnings about pages that were refused because of their origin or a leaked token, and how to fix it. */
import type { ResponseFor } from '@firsthand/client';
import { hrefOf } from '../../address.ts';
import { RelativeTime } from '../../parts/small.tsx';
import { account } from '../../reading/account.ts';
import { nameOfActor } from '../settings/token-list.ts';
import { allowOrigin } from './origins.tsx';

type Service = ResponseFor<'getService'>;

const RefusedOrigin = ({ origin, refusedTime }: NonNullable<Service['refusedOrigin']>) => {
  if (account.value?.accountOrigin.includes(origin)) return null;
  return (
    <div class="problem" role="status">
      <p>
        Events from <strong>{origin}</strong> were refused <RelativeTime time={refusedTime} />: this site is not in your
        list of sites.
      </p>
      <button type="button" onClick={() => allowOrigin(origin)}>
        Allow this site
      </button>
    </div>
  );
};

const LeakedToken = ({ origin, tokenID, refusedTime }: NonNullable<Service['leakedToken']>) => {
  const tokens = account.value?.token ?? [];
  if (tokens.find((token) => token.tokenID === tokenID)?.revokedTime) return null;
  return (
    <div class="problem" role="status">
      <p>
        Events from <strong>{origin}</strong> were refused <RelativeTime time={refusedTime} />: the page sends the
        secret token “{nameOfActor(tokenID, tokens)}”, which is now public.{' '}
        <a href={hrefOf('settings', { tab: 'tokens' })}>Revoke this token</a> and use the tag from{' '}
        <a href={hrefOf('set-up')}>Set up</a>.
      </p>
    </div>
  );
};

export const RefusedPages = ({ refusedOrigin, leakedToken }: Service) => (
  <>
    {leakedToken && <LeakedToken {...leakedToken} />}
    {refusedOrigin && <RefusedOrigin {...refusedOrigin} />}
  </>
);
