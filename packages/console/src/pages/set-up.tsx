/** Set up: the script tag, the sites that may use it, the first event, and what is left to do. */
import type { AnswerFor } from '@firsthand/client';
import { useEffect } from 'preact/hooks';
import { hrefOf, isOnThisMachine, root } from '../address.ts';
import { api } from '../api.ts';
import { Card } from '../parts/card.tsx';
import { EventLine } from '../parts/event-line.tsx';
import { RefusedHint } from '../parts/refused-hint.tsx';
import { Robots } from '../parts/robots.tsx';
import { OpenSampleShop } from '../parts/sample-shop.tsx';
import { Problem, Skeleton } from '../parts/small.tsx';
import { account, isOwner, readAccount } from '../reading/account.ts';
import { useAnswer } from '../reading/answer.ts';
import { isSampleShop } from '../session.ts';
import { Origins } from './set-up/origins.tsx';
import { RefusedPages } from './set-up/refused-pages.tsx';
import { readPageViewName, ScriptTag } from './set-up/script-tag.tsx';

const everyMs = 2_000;
const everyMsOfSteps = 10_000;

/** What only the service can say, as far as it has. */
type Service = AnswerFor<'getService'> | undefined;

const WhyNothing = () => (
  <>
    <p class="soft">Open the developer tools of the page, then Network, and load the page again:</p>
    <ul class="soft why-nothing">
      <li>The script is not listed: the tag is not in the page.</li>
      <li>The script is 404 or refused, or the console warns about its path: the address in the tag is wrong.</li>
      <li>401, firsthand: invalid_token: the token in the tag is wrong.</li>
      <li>403: the site is not in the list of sites, or the tag has a server token.</li>
      <li>
        The console mentions a Content Security Policy: <a href="../docs/csp">allow the script and its requests</a>.
      </li>
    </ul>
    <p class="soft">
      <a href="../docs/troubleshooting">All warnings and their remedies</a>
    </p>
  </>
);

const FirstEvent = ({ service }: { readonly service: Service }) => {
  const { value, problem } = useAnswer(
    'newest event',
    (signal) => api.getEvent({ limit: 1, include: 'why' }, { signal }),
    { everyMs },
  );
  const newest = value?.event[0];
  const hasEvents = newest !== undefined;
  const isWaiting = value !== undefined && !hasEvents && problem === undefined;
  // What the other pages say of the account is no longer true.
  useEffect(() => {
    if (hasEvents && account.peek()?.usage.events === 0) readAccount();
  }, [hasEvents]);
  return (
    <Card title="The first event" class={hasEvents ? 'first-event first-event-there' : 'first-event'}>
      {problem !== undefined && <Problem text={problem} />}
      <RefusedHint />
      {service && <RefusedPages {...service} />}
      <p role="status">
        {(hasEvents || isWaiting) && <span class="first-event-mark" aria-hidden="true" />}
        {hasEvents && 'Events arrive. The newest one:'}
        {value === undefined && problem === undefined && <Skeleton lines={1} />}
        {isWaiting && 'Waiting for your first event … Open a page that has the tag.'}
      </p>
      {isWaiting && (
        <>
          <p class="soft">Nothing arrives?</p>
          <WhyNothing />
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
          <summary>Nothing arrives from a page?</summary>
          <WhyNothing />
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

/** Whether the service is below a path, which the web server of a site can pass on. */
const hasPathOfSite = (): boolean => new URL(root).pathname !== '/';

const stepsOf = (logsMore: boolean): readonly Step[] => [
  {
    title: 'Choose which sites may use the tag',
    isDone: (account.value?.accountOrigin.length ?? 0) > 0,
    help: 'Without a list, a page of any site can send events with the token of your pages.',
    href: '#origins',
  },
  {
    title: 'Identify people',
    isDone: (account.value?.usage.contacts ?? 0) > 0,
    help: 'Call tracker.createContact when a visitor tells you who they are.',
    href: '../docs/identify',
  },
  {
    title: 'Log what matters to you',
    isDone: logsMore,
    help: 'Example: tracker.log("Basket filled", { product: "Stone teapot" })',
    href: '../docs/static-site',
  },
];

const operatorSteps = (service: Service): readonly Step[] => [
  {
    title: 'Serve the script from a path of your site, over HTTPS',
    isDone: !isOnThisMachine() && location.protocol === 'https:' && hasPathOfSite(),
    help: 'From a path of the site itself, Safari keeps a browser’s cookie for 400 days instead of 7.',
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
    help: 'With BACKUP_DIR, the server makes and verifies one each day.',
    href: '../docs/backups',
  },
];

/** Whether events were logged that the tag does not log by itself. The catalogue may also list those that never were. */
const useLogsMore = (): boolean => {
  const { value } = useAnswer(
    'definitions',
    (signal) => api.getEvent({ include: 'definition', limit: 1 }, { signal }),
    { everyMs: everyMsOfSteps },
  );
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
          <h3>For the operator of the server</h3>
          <Steps steps={operatorSteps(service)} />
        </>
      )}
    </Card>
  );
};

const Parts = ({ service }: { readonly service: Service }) => (
  <>
    <div class="set-up-column">
      <FirstEvent service={service} />
      {isOwner.value && <Origins />}
    </div>
    <CheckList service={service} />
  </>
);

const OwnersParts = () => {
  const { value } = useAnswer('service', (signal) => api.getService({}, { signal }), { everyMs });
  return <Parts service={value} />;
};

/** What is pasted from here would send a site's own events to invented people. */
const OwnTag = () => (
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
      {isSampleShop.value ? <OwnTag /> : <ScriptTag />}
      {isOwner.value ? <OwnersParts /> : <Parts service={undefined} />}
    </div>
  </>
);
