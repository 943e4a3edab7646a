/** Warnings about pages that were refused because of their origin or a leaked token, and how to fix it. */
import type { AnswerFor } from '@firsthand/client';
import { hrefOf } from '../../address.ts';
import { RelativeTime } from '../../parts/small.tsx';
import { account } from '../../reading/account.ts';
import { nameOfActor } from '../settings/token-list.ts';
import { allowOrigin } from './origins.tsx';

type Service = AnswerFor<'getService'>;

const RefusedOrigin = ({ origin, refusedTime }: NonNullable<Service['refusedOrigin']>) => {
  if (account.value?.accountOrigin.includes(origin)) return null;
  return (
    <div class="problem" role="status">
      <p>
        A page on <strong>{origin}</strong> was refused <RelativeTime time={refusedTime} />: it is not in your list of
        sites.
      </p>
      <button type="button" onClick={() => allowOrigin(origin)}>
        Allow it
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
        A page on <strong>{origin}</strong> was refused <RelativeTime time={refusedTime} />: it sends the secret token “
        {nameOfActor(tokenID, tokens)}”, which is now public.{' '}
        <a href={hrefOf('settings', { tab: 'tokens' })}>Revoke it</a> and use the tag from{' '}
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
