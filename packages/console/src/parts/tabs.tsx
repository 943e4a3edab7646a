/** Tabs whose selection is stored in the URL. */
import { hrefWith, query } from '../address.ts';
import { isShared } from '../reading/shared.ts';

interface TabsProps<Name extends string> {
  /** The URL parameter. */
  readonly parameter: string;
  readonly tabs: Readonly<Record<Name, string>>;
  readonly label: string;
  /** URL parameters to remove when switching tabs. */
  readonly drops?: readonly string[];
}

/** The chosen tab; the first one by default. */
export const chosenTab = <Name extends string>({ parameter, tabs }: Omit<TabsProps<Name>, 'label' | 'drops'>): Name => {
  const chosen = query.value.get(parameter);
  const [first] = Object.keys(tabs);
  return (chosen !== null && Object.hasOwn(tabs, chosen) ? chosen : first) as Name;
};

export const Tabs = <Name extends string>({ parameter, tabs, label, drops = [] }: TabsProps<Name>) => {
  const names = Object.keys(tabs) as Name[];
  const chosen = chosenTab({ parameter, tabs });
  if (isShared) return <span class="soft">{tabs[chosen]}</span>;
  const dropped = Object.fromEntries(drops.map((name) => [name, null]));
  return (
    <nav class="tabs" aria-label={label}>
      {names.map((name, index) => (
        <a
          key={name}
          href={hrefWith({ ...(name !== chosen && dropped), [parameter]: index === 0 ? null : name })}
          aria-current={name === chosen ? 'true' : undefined}
        >
          {tabs[name]}
        </a>
      ))}
    </nav>
  );
};
