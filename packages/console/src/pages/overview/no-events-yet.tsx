/** Shown instead of the overview until the first event arrives: how to start. */
import { useEffect } from 'preact/hooks';
import { hrefOf } from '../../address.ts';
import { api } from '../../api.ts';
import { OpenSampleShop } from '../../parts/sample-shop.tsx';
import { useFetch } from '../../reading/use-fetch.ts';

const everyMs = 3_000;

export const NoEventsYet = ({ onFirstEvent }: { readonly onFirstEvent: () => void }) => {
  const { value } = useFetch('first event', (signal) => api.getEvent({ limit: 1 }, { signal }), { everyMs });
  const hasEvents = value !== undefined && value.event.length > 0;
  useEffect(() => {
    if (hasEvents) onFirstEvent();
  }, [hasEvents]);
  return (
    <section class="card waiting" aria-labelledby="waiting-title">
      <span class="online-dot" aria-hidden="true" />
      <h2 id="waiting-title">No events yet</h2>
      <p class="soft">Add the script tag to your pages. This page fills in as soon as the first event arrives.</p>
      <a class="main-link" href={hrefOf('set-up')}>
        Set up the script tag
      </a>
      <OpenSampleShop />
    </section>
  );
};
