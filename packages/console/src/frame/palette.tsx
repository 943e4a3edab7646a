/** The ⌘K palette: finds pages, views, date ranges and people by name. */
import { useEffect, useId, useState } from 'preact/hooks';
import { go, hrefOf } from '../address.ts';
import { api } from '../api.ts';
import { Dialog } from '../parts/dialog.tsx';
import { nameOfPerson } from '../reading/person.ts';
import { presets } from '../reading/range.ts';
import { useFetch } from '../reading/use-fetch.ts';
import { hrefOfView, type View } from '../reading/views.ts';
import { overlay } from './keys.ts';
import { pages } from './pages.ts';
import { settingsTabs } from './settings-tabs.ts';

interface Place {
  readonly label: string;
  readonly kind: string;
  readonly href: string;
  /** Additional search words. */
  readonly words?: string | undefined;
}

const maxPeople = 12;
const maxResults = 16;
const typingMs = 150;

/** ARIA's combobox with a separate listbox; Preact's types support only the combobox of HTML's `list`. */
const combobox: object = { role: 'combobox', 'aria-expanded': true };

/** Tabs that people search for by name. */
const tabs = [
  ['Campaigns', '', { sources: 'campaigns' }],
  ['Funnel', 'events', { tab: 'funnel' }],
  ['Retention', 'events', { tab: 'retention' }],
] as const;

const places = (views: readonly View[]): readonly Place[] => [
  ...pages.map(({ title, name, words }) => ({ label: title, kind: 'Page', href: hrefOf(name), words })),
  ...tabs.map(([label, page, parameters]) => ({ label, kind: 'Page', href: hrefOf(page, parameters) })),
  ...Object.entries(settingsTabs).map(([tab, label]) => ({
    label,
    kind: 'Settings',
    href: hrefOf('settings', { tab }),
  })),
  ...views.map((view) => ({ label: view.viewName, kind: 'View', href: hrefOfView(view) })),
  ...Object.entries(presets).map(([range, label]) => ({
    label,
    kind: 'Date range',
    href: hrefOf('', { range, from: null, to: null }),
  })),
];

const findPeople = async (text: string, signal: AbortSignal): Promise<Place[]> => {
  const { contact } = await api.searchContact({ text, limit: maxPeople }, { signal });
  return contact.map((person) => ({
    label: nameOfPerson(person),
    kind: person.contactEmailaddress || 'Person',
    href: hrefOf('person', { contact: person.contactUUID }),
  }));
};

export const Palette = () => {
  const [text, setText] = useState('');
  const [people, setPeople] = useState<readonly Place[]>([]);
  const views = useFetch('views', (signal) => api.listViews({}, { signal })).value?.view ?? [];
  const [chosen, setChosen] = useState(0);
  const list = useId();
  const close = () => {
    overlay.value = undefined;
  };
  useEffect(() => {
    setChosen(0);
    if (text.trim().length < 2) return setPeople([]);
    const controller = new AbortController();
    const timer = setTimeout(
      () => findPeople(text.trim(), controller.signal).then(setPeople, () => setPeople([])),
      typingMs,
    );
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [text]);
  const searchText = text.trim().toLowerCase();
  const matches = [
    ...places(views).filter(({ label, words = '' }) => `${label} ${words}`.toLowerCase().includes(searchText)),
    ...people,
  ].slice(0, maxResults);
  const open = (place: Place | undefined) => {
    if (!place) return;
    close();
    go(place.href);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setChosen((chosen + step + matches.length) % Math.max(1, matches.length));
    } else if (event.key === 'Enter') open(matches[chosen]);
    // By default, Escape only clears the field.
    else if (event.key === 'Escape') {
      event.preventDefault();
      close();
    }
  };
  return (
    <Dialog title="Find" close={close} class="palette">
      <input
        {...combobox}
        type="search"
        aria-controls={list}
        aria-activedescendant={matches[chosen] ? `${list}-${chosen}` : undefined}
        aria-label="Find a page, date range or person"
        placeholder="Find a page, date range or person"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div id={list} role="listbox" aria-label="Results" tabIndex={-1}>
        {matches.map((place, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input handles the keys (WAI-ARIA combobox).
          <div
            key={place.href + place.label}
            id={`${list}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={() => open(place)}
          >
            <span>{place.label}</span>
            <small>{place.kind}</small>
          </div>
        ))}
        {matches.length === 0 && <p class="empty-title">No results</p>}
      </div>
    </Dialog>
  );
};
