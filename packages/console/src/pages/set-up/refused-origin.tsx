/** Says that pages of an origin were refused, while nothing has come from them. */
import type { AnswerFor } from '@firsthand/client';
import { Ago } from '../../parts/small.tsx';
import { account } from '../../reading/account.ts';
import { allowOrigin } from './origins.tsx';

type Refused = NonNullable<AnswerFor<'getService'>['refusedOrigin']>;

export const RefusedOrigin = ({ refused: { origin, refusedTime } }: { readonly refused: Refused }) => {
  if (account.value?.accountOrigin.includes(origin)) return null;
  return (
    <div class="problem" role="status">
      <p>
        A page of <strong>{origin}</strong> was refused <Ago time={refusedTime} />: it is not in your list of sites.
      </p>
      <button type="button" onClick={() => allowOrigin(origin)}>
        Allow it
      </button>
    </div>
  );
};
