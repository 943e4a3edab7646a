/** Events: counts, funnels and retention. */
import { Filters } from '../parts/filters.tsx';
import { RangePicker } from '../parts/range-picker.tsx';
import { SegmentChoice } from '../parts/segments.tsx';
import { chosenTab, Tabs } from '../parts/tabs.tsx';
import { ViewsMenu } from '../parts/views/views-menu.tsx';
import { Explore } from './events/explore.tsx';
import { Funnel } from './events/funnel.tsx';
import { Retention } from './events/retention.tsx';
import { MailDialog } from './mail-dialog.tsx';

const tabs = { explore: 'Explore', funnel: 'Funnel', retention: 'Retention' } as const;
const contents = { explore: Explore, funnel: Funnel, retention: Retention } as const;

const chosenReport = () => chosenTab({ parameter: 'tab', tabs });

export const EventReports = () => {
  const Content = contents[chosenReport()];
  return <Content />;
};

export const Events = () => {
  const chosen = chosenReport();
  return (
    <>
      <header class="page-head">
        <h1>Events</h1>
        <Tabs parameter="tab" tabs={tabs} label="Report" drops={['group', 'who']} />
        <ViewsMenu MailDialog={MailDialog} />
        <SegmentChoice />
        <RangePicker compares={chosen === 'explore'} />
      </header>
      <Filters />
      <EventReports />
    </>
  );
};
