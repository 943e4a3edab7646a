/** Set up: the script tag, allowed sites, the first event, and next steps. */
import type { ResponseFor } from '@firsthand/client';
import { useEffect } from 'preact/hooks';
import { hrefOf, isLoopback, root } from '../address.ts';
import { api } from '../api.ts';
import { Card } from '../parts/card.tsx';
import { EventLine } from '../parts/event-line.tsx';
import { RefusedHint } from '../parts/refused-hint.tsx';
import { Robots } from '../parts/robots.tsx';
import { OpenSampleShop } from '../parts/sample-shop.tsx';
import { Problem, Skeleton } from '../parts/small.tsx';
import { account, isOwner, readAccount } from '../reading/account.ts';
import { useFetch } from '../reading/use-fetch.ts';
import { isSampleShop } from '../session.ts';
import { Origins } from './set-up/origins.tsx';
import { RefusedPages } from './set-up/refused-pages.tsx';
import { readPageViewName, ScriptTag } from './set-up/script-tag.tsx';

const everyMs = 2_000;
const stepsPollMs = 10_000;

/** The getService response, once it has loaded. */
type Service = ResponseFor<'getService'> | undefined;

const Troubleshooting = () => (
  <>
    <p class="soft">Open your browser’s developer tools, choose Network, and reload the page:</p>
    <ul class="soft why-nothing">
      <li>The script isn’t listed: the tag is not in the page.</li>
      <li>The script fails to load, or the browser console warns about its path: the address in the tag is wrong.</li>
      <li>401 or “firsthand: invalid_token”: the token in the tag is wrong.</li>
      <li>403: the site is not in your list of sites, or the tag has a server token.</li>
      <li>
        The browser console mentions a Content Security Policy:{' '}
        <a href="../docs/csp">allow the script and its requests</a>.
      </li>
    </ul>
    <p class="soft">
      <a href="../docs/troubleshooting">All warnings and how to fix them</a>
    </p>
  </>
);

const FirstEvent = ({ service }: { readonly service: Service }) => {
  const { value, problem } = useFetch(
    'newest event',
    (signal) => api.getEvent({ limit: 1, include: 'why' }, { signal }),
    { everyMs },
  );
  const newest = value?.event[0];
  const hasEvents = newest !== undefined;
  const isWaiting = value !== undefined && !hasEvents && problem === undefined;
  // Until the account is reloaded, the other pages show an account without events.
  useEffect(() => {
    if (hasEvents && account.peek()?.usage.events === 0) readAccount();
  }, [hasEvents]);
  return (
    <Card title="First event" class={hasEvents ? 'first-event first-event-there' : 'first-event'}>
      {problem !== undefined && <Problem text={problem} />}
      <RefusedHint />
      {service && <RefusedPages {...service} />}
      <p role="status">
        {(hasEvents || isWaiting) && <span class="first-event-mark" aria-hidden="true" />}
        {hasEvents && 'Events are arriving. The latest:'}
        {value === undefined && problem === undefined && <Skeleton lines={1} />}
        {isWaiting && 'Waiting for your first event… Open a page with the tag.'}
      </p>
      {isWaiting && (
        <>
          <p class="soft">No events?</p>
          <Troubleshooting />
        </>
      )}
      {hasEvents && <Robots />}
      {newest && (
        <ul class="events">
          <EventLine event={newest} />
        </ul>
      )}
      {newest && (
        <p>
          <a href={hrefOf('live')}>Watch them live</a>
        </p>
      )}
      {newest && (
        <details class="soft">
          <summary>No events from a page?</summary>
          <Troubleshooting />
        </details>
      )}
    </Card>
  );
};

interface Step {
  readonly title: string;
  readonly isDone: boolean;
  readonly help: string;
  readonly href: string;
}

/** Whether the service is under a path, which a site's web server can forward. */
const hasBasePath = (): boolean => new URL(root).pathname !== '/';

const stepsOf = (logsMore: boolean): readonly Step[] => [
  {
    title: 'Choose which sites may use the tag',
    isDone: (account.value?.accountOrigin.length ?? 0) > 0,
    help: 'Without a list, any site can send events with your token.',
    href: '#origins',
  },
  {
    title: 'Identify people',
    isDone: (account.value?.usage.contacts ?? 0) > 0,
    help: 'Call tracker.createContact when a visitor tells you who they are.',
    href: '../docs/identify',
  },
  {
    title: 'Log your own events',
    isDone: logsMore,
    help: 'Example: tracker.log("Basket filled", { product: "Stone teapot" })',
    href: '../docs/static-site',
  },
];

const operatorSteps = (service: Service): readonly Step[] => [
  {
    title: 'Serve the script from a path on your site, over HTTPS',
    isDone: !isLoopback() && location.protocol === 'https:' && hasBasePath(),
    help: 'If the script comes from your own site, its cookie lasts 400 days in Safari instead of 7.',
    href: '../docs/own-domain',
  },
  {
    title: service?.unknownProxy ? 'List your proxy in TRUST_PROXY' : 'No unlisted proxy detected',
    isDone: service?.unknownProxy === false,
    help: 'Behind an unlisted proxy, all visitors count as one and share one rate limit.',
    href: '../docs/own-domain',
  },
  {
    title: 'Turn on automatic backups',
    isDone: (service?.backupSeconds ?? 0) > 0,
    help: 'If BACKUP_DIR is set, the server makes and verifies a backup every day.',
    href: '../docs/backups',
  },
];

/**
 * Whether any event other than page views has been logged; the tag logs page views automatically. Checks the counts,
 * because listed events may be unused.
 */
const useLogsMore = (): boolean => {
  const { value } = useFetch('definitions', (signal) => api.getEvent({ include: 'definition', limit: 1 }, { signal }), {
    everyMs: stepsPollMs,
  });
  const pageViewName = readPageViewName();
  return (value?.eventDefinition ?? []).some(({ eventName, count }) => count > 0 && eventName !== pageViewName);
};

const Steps = ({ steps }: { readonly steps: readonly Step[] }) => (
  <ul class="check-list">
    {steps.map(({ title, isDone, help, href }) => (
      <li key={title} class={isDone ? 'done' : undefined}>
        <span class="check" role="img" aria-label={isDone ? 'Done' : 'To do'} />
        <span>
          <a href={href}>{title}</a>
          <small>{help}</small>
        </span>
      </li>
    ))}
  </ul>
);

const CheckList = ({ service }: { readonly service: Service }) => {
  const logsMore = useLogsMore();
  return (
    <Card title="Next steps">
      <Steps steps={stepsOf(logsMore)} />
      {isOwner.value && (
        <>
          <h3>For the server’s operator</h3>
          <Steps steps={operatorSteps(service)} />
        </>
      )}
    </Card>
  );
};

const Sections = ({ service }: { readonly service: Service }) => (
  <>
    <div class="set-up-column">
      <FirstEvent service={service} />
      {isOwner.value && <Origins />}
    </div>
    <CheckList service={service} />
  </>
);

const OwnerSections = () => {
  const { value } = useFetch('service', (signal) => api.getService({}, { signal }), { everyMs });
  return <Sections service={value} />;
};

/** The sample shop shows no tag: a site that used it would mix its events with the invented ones. */
const SampleShopTag = () => (
  <Card title="The script tag">
    <p>The tag for your pages is in your own account. Switch to it in the account menu.</p>
  </Card>
);

export const SetUp = () => (
  <>
    <header class="page-head">
      <h1>Set up</h1>
      <OpenSampleShop />
    </header>
    <div class="set-up">
      {isSampleShop.value ? <SampleShopTag /> : <ScriptTag />}
      {isOwner.value ? <OwnerSections /> : <Sections service={undefined} />}
    </div>
  </>
);
