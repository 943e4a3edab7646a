/** The current filter's conditions, each with a link that removes it. */
import { type Condition, conditions, describeCondition, hrefToRemove, hrefWithFilter } from '../reading/filter.ts';
import { SaveSegment } from './segments.tsx';

/** Explains that a filter by page excludes the same people's other events, and links to a filter that includes them. */
const PageHint = () => {
  const isPageCondition = ({ attrID, is }: Condition) => attrID === 'path' && is !== undefined;
  if (!conditions.value.some(isPageCondition)) return null;
  const ofPeople = conditions.value.map((each) => (isPageCondition(each) ? { did: { filter: each } } : each));
  return (
    <p class="soft">
      Only events on this page are counted, so purchases on other pages are not included.{' '}
      <a href={hrefWithFilter(ofPeople)}>Show everything that people who saw this page did</a>
    </p>
  );
};

export const Filters = () =>
  conditions.value.length === 0 ? null : (
    <div class="filter-line">
      <ul class="filters" aria-label="Filter">
        {conditions.value.map((condition) => {
          const words = describeCondition(condition);
          return (
            <li key={words}>
              <span title={words}>{words}</span>
              <a href={hrefToRemove(condition)} aria-label={`Remove the condition: ${words}`}>
                ×
              </a>
            </li>
          );
        })}
      </ul>
      <SaveSegment />
      <PageHint />
    </div>
  );
