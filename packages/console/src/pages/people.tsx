/** People: contacts, and all people in a date range, including anonymous ones. */
import { hrefWith } from '../address.ts';
import { Filters } from '../parts/filters.tsx';
import { RangePicker } from '../parts/range-picker.tsx';
import { SegmentChoice } from '../parts/segments.tsx';
import { chosenTab, Tabs } from '../parts/tabs.tsx';
import { conditions } from '../reading/filter.ts';
import { AllPeople } from './people/all-people.tsx';
import { Contacts } from './people/contacts.tsx';

const tabs = { contacts: 'Contacts', everybody: 'Everyone' } as const;

export const People = () => {
  const chosen = chosenTab({ parameter: 'list', tabs });
  return (
    <>
      <header class="page-head">
        <h1>People</h1>
        <Tabs parameter="list" tabs={tabs} label="List" />
        {chosen === 'everybody' && (
          <>
            <SegmentChoice />
            <RangePicker compares={false} />
          </>
        )}
      </header>
      {chosen === 'everybody' && <Filters />}
      {chosen === 'contacts' && conditions.value.length > 0 && (
        <p class="hint">
          The filter does not apply to contacts. <a href={hrefWith({ list: 'everybody' })}>Everyone</a> shows the people
          it matches.
        </p>
      )}
      {chosen === 'contacts' ? <Contacts /> : <AllPeople />}
    </>
  );
};
