/** The number of bots of each kind in the last five minutes. Reports exclude bots. */
import { api } from '../api.ts';
import { useFetch } from '../reading/use-fetch.ts';

const everyMs = 10_000;
const rangeMs = 5 * 60_000;

const kindNames: Readonly<Record<string, readonly [singular: string, plural: string]>> = {
  'AI agent': ['AI agent', 'AI agents'],
  crawler: ['crawler', 'crawlers'],
};
/** The default; also for events that only the tracker marked as coming from a bot. */
const automated = ['automated browser', 'automated browsers'] as const;

const countRobots = (signal: AbortSignal) =>
  api.reportBreakdown(
    {
      by: 'attr:$agent',
      from: new Date(Date.now() - rangeMs).toISOString(),
      robots: 'include',
      filter: { attrID: 'robot', is: 'true' },
      sort: 'users',
    },
    { signal },
  );

export const Robots = () => {
  const { value } = useFetch('robots', countRobots, { everyMs });
  const counts = new Map<readonly [string, string], number>();
  for (const { values, users } of value?.row ?? []) {
    const names = kindNames[values[0] ?? ''] ?? automated;
    counts.set(names, (counts.get(names) ?? 0) + users);
  }
  const texts = [...counts]
    .filter(([, users]) => users > 0)
    .map(([[singular, plural], users]) => `${users} ${users === 1 ? singular : plural}`);
  return texts.length === 0 ? null : (
    <p class="soft" role="status">
      {new Intl.ListFormat('en').format(texts)}, excluded from reports
    </p>
  );
};
