/** Shows the page that the URL identifies, and loads its script if necessary. */
import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect, useErrorBoundary, useState } from 'preact/hooks';
import { pageName } from '../address.ts';
import { messageOf } from '../api.ts';
import { Overview } from '../pages/overview.tsx';
import { EmptyState, Problem, Skeleton } from '../parts/small.tsx';
import { pages, secondaryPages } from './pages.ts';

const loadedPages = signal<ReadonlyMap<string, ComponentType>>(new Map([['', Overview]]));
const problem = signal('');

/** Loads a page's script. */
export const load = async (name: string): Promise<void> => {
  const entry = [...pages, ...secondaryPages].find((page) => page.name === name);
  if (!entry?.load || loadedPages.peek().has(name)) return;
  try {
    const Page = await entry.load();
    loadedPages.value = new Map([...loadedPages.peek(), [name, Page]]);
    problem.value = '';
  } catch {
    // After a server update, files have different names.
    problem.value = 'This page couldn’t be loaded. The server may have been updated. Reload to continue.';
  }
};

export const titleOf = (name: string): string =>
  [...pages, ...secondaryPages].find((page) => page.name === name)?.title ?? 'Not found';

/** Catches a page's errors, so that the rest of the console stays usable. */
const ErrorBoundary = ({ Loaded }: { readonly Loaded: ComponentType }) => {
  const [error, reset] = useErrorBoundary();
  if (error) return <Problem text={`Something went wrong on this page: ${messageOf(error)}`} reload={reset} />;
  return <Loaded />;
};

export const Page = () => {
  const name = pageName.value;
  const [rendered, setRendered] = useState(name);
  // Effects run after the paint: the navigation responds to a click immediately, and a heavy page follows in the next
  // frame.
  useEffect(() => {
    setRendered(name);
    load(name);
  }, [name]);
  if (rendered !== name) return null;
  const Loaded = loadedPages.value.get(name);
  if (Loaded) return <ErrorBoundary key={name} Loaded={Loaded} />;
  if (problem.value) return <Problem text={problem.value} reload={() => location.reload()} />;
  if (titleOf(name) !== 'Not found') return <Skeleton lines={8} />;
  return (
    <EmptyState title="Page not found">
      <p>
        <a href="./">Go to the overview</a>
      </p>
    </EmptyState>
  );
};
