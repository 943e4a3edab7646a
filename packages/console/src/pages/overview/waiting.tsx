/** In place of the numbers of an account without events: where to begin. The numbers come with the first event. */
import { useEffect } from 'preact/hooks';
import { hrefOf } from '../../address.ts';
import { api } from '../../api.ts';
import { OpenSampleShop } from '../../parts/sample-shop.tsx';
import { useAnswer } from '../../reading/answer.ts';

const everyMs = 3_000;

export const Waiting = ({ arrived }: { readonly arrived: () => void }) => {
  const { value } = useAnswer('first event', (signal) => api.getEvent({ limit: 1 }, { signal }), { everyMs });
  const hasEvents = value !== undefined && value.event.length > 0;
  useEffect(() => {
    if (hasEvents) arrived();
  }, [hasEvents]);
  return (
    <section class="card waiting" aria-labelledby="waiting-title">
      <span class="online-dot" aria-hidden="true" />
      <h2 id="waiting-title">No event has arrived yet</h2>
      <p class="soft">
        Put the script tag into your pages. The numbers show here as soon as the first event is stored.
      </p>
      <a class="main-link" href={hrefOf('set-up')}>
        Set up the script tag
      </a>
      <OpenSampleShop />
    </section>
  );
};
