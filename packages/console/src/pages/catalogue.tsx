/** Catalogue: the names of events, attributes, tags and profiles, and saved segments. */
import { query } from '../address.ts';
import { ReadOnlyNotice } from '../parts/read-only.tsx';
import { chosenTab, Tabs } from '../parts/tabs.tsx';
import { CatalogueCard } from './catalogue/catalogue-card.tsx';
import { type Kind, kinds } from './catalogue/entries.ts';
import { Segments } from './catalogue/segments.tsx';

const tabs = {
  event: kinds.event.title,
  attr: kinds.attr.title,
  tag: kinds.tag.title,
  profile: kinds.profile.title,
  segment: 'Segments',
} satisfies Record<Kind | 'segment', string>;

export const Catalogue = () => {
  const chosen = chosenTab({ parameter: 'tab', tabs });
  const text = query.value.get('text') ?? '';
  return (
    <>
      <header class="page-head">
        <h1>Catalogue</h1>
        <Tabs parameter="tab" tabs={tabs} label="List" />
      </header>
      <ReadOnlyNotice />
      {chosen === 'segment' ? <Segments text={text} /> : <CatalogueCard key={chosen} kind={chosen} text={text} />}
    </>
  );
};
