/** The conditions of the filter that is seen, each with a way to take it out. */
import { conditions, hrefToRemove, inWords } from '../reading/filter.ts';
import { SaveSegment } from './segments.tsx';

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
    </div>
  );
