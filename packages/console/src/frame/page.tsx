/** Shows the page that the address names, and loads it if need be. */
import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect, useErrorBoundary, useState } from 'preact/hooks';
import { pageName } from '../address.ts';
import { messageOf } from '../api.ts';
import { Overview } from '../pages/overview.tsx';
import { Empty, Problem, Skeleton } from '../parts/small.tsx';
import { furtherPages, pages } from './pages.ts';

const loaded = signal<ReadonlyMap<string, ComponentType>>(new Map([['', Overview]]));
const problem = signal('');

/** Loads the script of a page. */
export const load = async (name: string): Promise<void> => {
  const entry = [...pages, ...furtherPages].find((page) => page.name === name);
  if (!entry?.load || loaded.peek().has(name)) return;
  try {
    const Page = await entry.load();
    loaded.value = new Map([...loaded.peek(), [name, Page]]);
    problem.value = '';
  } catch {
    // A newer build has other file names.
    problem.value = 'This page could not be loaded. The server may have been updated: load the page again.';
  }
};

/** The title of the page that is open. */
export const titleOf = (name: string): string =>
  [...pages, ...furtherPages].find((page) => page.name === name)?.title ?? 'Not found';

/** A page that fails leaves the rest of the console usable. */
const Guarded = ({ Loaded }: { readonly Loaded: ComponentType }) => {
  const [error, reset] = useErrorBoundary();
  if (error) return <Problem text={`This page has failed: ${messageOf(error)}`} again={reset} />;
  return <Loaded />;
};

export const Page = () => {
  const name = pageName.value;
  const [begun, setBegun] = useState(name);
  // An effect runs after the paint: the navigation answers a click at once, and a page with much on it follows in the next frame.
  useEffect(() => {
    setBegun(name);
    load(name);
  }, [name]);
  if (begun !== name) return null;
  const Loaded = loaded.value.get(name);
  if (Loaded) return <Guarded key={name} Loaded={Loaded} />;
  if (problem.value) return <Problem text={problem.value} again={() => location.reload()} />;
  if (titleOf(name) !== 'Not found') return <Skeleton lines={8} />;
  return (
    <Empty title="There is no such page">
      <p>
        <a href="./">Go to the overview</a>
      </p>
    </Empty>
  );
};
