/** The conditions of the filter that is seen, each with a way to take it out. */
import { type Condition, conditions, hrefToHave, hrefToRemove, inWords } from '../reading/filter.ts';
import { SaveSegment } from './segments.tsx';

/** Explains that a filter of pages leaves out the people's other events, such as purchases, and links to these. */
const PageHint = () => {
  const isOfPage = ({ attrID, is }: Condition) => attrID === 'path' && is !== undefined;
  if (!conditions.value.some(isOfPage)) return null;
  const ofPeople = conditions.value.map((each) => (isOfPage(each) ? { did: { filter: each } } : each));
  return (
    <p class="soft">
      Only events on this page count, so purchases on other pages are left out.{' '}
      <a href={hrefToHave(ofPeople)}>Show everything that people who saw this page did</a>
    </p>
  );
};

export const Filters = () =>
  conditions.value.length === 0 ? null : (
    <div class="filter-line">
      <ul class="filters" aria-label="Filter">
        {conditions.value.map((condition) => {
          const words = inWords(condition);
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
